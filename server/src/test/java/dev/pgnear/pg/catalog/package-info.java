/** Tests of set-up, preflight, attaching and sampling. */
package dev.pgnear.pg.catalog;
