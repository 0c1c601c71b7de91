"""Training seconds are counted, validation seconds are not."""

from types import SimpleNamespace

from zoo.callbacks import Throughput, throughput


def test_validation_does_not_count(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(throughput, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    callback = Throughput()
    assert callback.examples_per_second == 0

    class Words(list):
        unit, units = "words", 24  # of eight examples

    def batches(count):
        for _ in range(count):
            callback.on_train_batch_start(None, None, Words([0] * 8), 0)
            now[0] += 2.0
            callback.on_train_batch_end(None, None, None, Words([0] * 8), 0)

    batches(3)
    callback.on_validation_start(None, None)
    now[0] += 100.0
    batches(2)
    callback.on_train_epoch_end(None, None)
    now[0] += 100.0
    assert callback.examples_per_second == 40 / 10
    assert (callback.unit, callback.units_per_second) == ("words", 120 / 10)
