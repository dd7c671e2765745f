package dev.pgnear.coherence;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class XidFenceTest {
    private static final Snapshot ALL_BELOW_20_BUT_12 = new Snapshot(12, 20, new long[] {12});

    @Test
    void everyXidMustBeFinished() {
        XidFence fence = XidFence.NONE.with(11, 4).with(13, 4);
        assertThat(fence.passes(ALL_BELOW_20_BUT_12)).isTrue();
        assertThat(fence.with(12, 4).passes(ALL_BELOW_20_BUT_12)).isFalse();
        assertThat(fence.with(20, 4).passes(ALL_BELOW_20_BUT_12)).isFalse();
        assertThat(XidFence.NONE.passes(ALL_BELOW_20_BUT_12)).isTrue();
    }

    @Test
    void beyondTheBoundItAsksForMore() {
        XidFence fence = XidFence.NONE.with(5, 2).with(13, 2).with(7, 2);
        assertThat(fence.floor()).isEqualTo(13);
        assertThat(fence.xids()).isEmpty();
        assertThat(fence.passes(ALL_BELOW_20_BUT_12)).isFalse();
        assertThat(fence.passes(new Snapshot(14, 14, new long[0]))).isTrue();
        XidFence more = fence.with(16, 2);
        assertThat(more.passes(new Snapshot(14, 20, new long[] {14}))).isTrue();
        assertThat(more.passes(new Snapshot(14, 20, new long[] {14, 16}))).isFalse();
    }

    @Test
    void aNewXidHasNotBeenShown() {
        assertThat(XidFence.NONE.with(5, 2).shown(9).with(6, 2).shownAt()).isEqualTo(-1);
    }
}
