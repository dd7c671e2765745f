/** Tests of the command line. */
package dev.pgnear.cli;
