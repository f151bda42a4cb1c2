"""What other programs state, where it is not one of ours (docs/peers.md); `metric_table.py` has the whole."""

from fabriscope.model.metric import BOTH_WAYS, LOCAL, NEVER, ONE_WAY, THERE_AND_BACK, rate_metric, time_metric
from fabriscope.model.quantity import Operations, Ranks

PROGRAM_METRICS = (
    time_metric(
        "latency", "Mean latency",
        "half of the round trip of a ping-pong, as the mean over a launch's operations (IMB, qperf)",
        ONE_WAY, 2, operations=Operations.MEAN,
    ),
    time_metric(
        "latency", "Least mean latency",
        "half of the round trip of a ping-pong, as the least of the means of three trials (NetPIPE)",
        ONE_WAY, 2, operations=Operations.LEAST_MEAN,
    ),
    rate_metric(
        "ping_pong_bandwidth", "Ping-pong bandwidth, mean", "message size over latency_ns_mean", ONE_WAY,
        operations=Operations.MEAN,
    ),
    rate_metric(
        "ping_pong_bandwidth", "Ping-pong bandwidth, best mean", "message size over latency_ns_least_mean", ONE_WAY,
        operations=Operations.LEAST_MEAN,
    ),
    time_metric(
        "multi_pair_latency", "Mean multi-pair latency",
        "half of the round trip of ping-pongs that all pairs play at once: the mean over the operations and the pairs "
        "(osu_multi_lat)", ONE_WAY, 2, operations=Operations.MEAN, ranks=Ranks.MEAN,
    ),
    rate_metric(
        "message_rate", "Message rate, pairs' mean time",
        "as message_rate_per_s, but over the mean of the pairs' times (osu_mbw_mr): more than passes the wire, where "
        "pairs take turns", ONE_WAY, counted="messages", operations=Operations.MEAN,
        ranks=Ranks.MEAN,
    ),
    rate_metric(
        "multi_pair_bandwidth", "Multi-pair bandwidth, pairs' mean time",
        "the bytes of all pairs' messages over that same time", ONE_WAY, operations=Operations.MEAN, ranks=Ranks.MEAN,
    ),
    rate_metric(
        "stream_bandwidth", "Stream bandwidth",
        "messages sent one after another and never answered: the bytes that arrived, over the time (iperf3, qperf)",
        ONE_WAY, completion=NEVER,
    ),
    rate_metric(
        "sent_bandwidth", "Sent bandwidth",
        "messages sent one after another and never answered: the bytes that the sender's system took, over the "
        "time, whether they arrived or not (sockperf)", ONE_WAY, completion=LOCAL,
    ),
    rate_metric(
        "bidirectional_stream_bandwidth", "Bidirectional stream bandwidth",
        "as stream_bandwidth_bytes_per_s, both ways at once: the bytes of both directions (perftest)", BOTH_WAYS,
        completion=NEVER,
    ),
    rate_metric(
        "put_stream_bandwidth", "Put stream bandwidth",
        "puts one after another, a fixed number of them under way: their bytes over the time until the last "
        "is known to be complete (perftest; IMB-RMA, which has all of them under way)", ONE_WAY, completion=NEVER,
    ),
    rate_metric(
        "get_stream_bandwidth", "Get stream bandwidth",
        "as put_stream_bandwidth_bytes_per_s, with gets (perftest, IMB-RMA)", THERE_AND_BACK, completion=NEVER,
    ),
    rate_metric(
        "fetch_and_op_stream_rate", "Fetch-and-op stream rate",
        "as put_stream_bandwidth_bytes_per_s, with fetch_and_ops: their number over the time (perftest)",
        THERE_AND_BACK, counted="operations", completion=NEVER,
    ),
    time_metric(
        "get_accumulate_of_characters", "Mean get-accumulate of characters",
        "a get_accumulate that adds MPI_CHAR, which MPI does not define and OSU asks for, and its flush "
        "(osu_get_acc_latency)", THERE_AND_BACK, operations=Operations.MEAN,
    ),
    time_metric(
        "rdma_ping_time", "Mean RDMA ping",
        "rank 1 reads a message from rank 0's memory and writes it back there, each told by messages before and after: "
        "the time of many such pings less that of one, over their number (rping)", BOTH_WAYS,
        operations=Operations.MEAN,
    ),
    time_metric(
        "operation_time", "Time per operation",
        "time of one operation of a benchmark that has no metric of its own (a plug-in), as its author defines it",
    ),
    time_metric("floor", "Floor", "time of an operation that does nothing (benchmark empty): what recording costs"),
)  # fmt: skip
