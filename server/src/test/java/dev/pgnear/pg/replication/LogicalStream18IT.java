package dev.pgnear.pg.replication;

class LogicalStream18IT extends LogicalStreamScenarios {
    LogicalStream18IT() {
        super(18);
    }
}
