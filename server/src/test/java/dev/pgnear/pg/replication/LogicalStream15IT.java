package dev.pgnear.pg.replication;

class LogicalStream15IT extends LogicalStreamScenarios {
    LogicalStream15IT() {
        super(15);
    }
}
