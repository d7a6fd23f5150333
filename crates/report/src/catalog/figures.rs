//! The list of figures. To add one, add a line. Its position is its position in exports and, within a [`ColumnSlot`], in tables.

use rpcbench_record::{OutcomeKind, PlannedServer, RankedBy, SATURATED};

use super::Of::{Any, Cell, Run, Trial, Window, Windows};
use super::Unit::{
    Bytes, Count, Flag, Milliseconds, Money, Nanoseconds as Ns, PerSecond, Ratio, Share, Word,
};
use super::value::{Value, some};
use super::{ColumnSlot, Figure, Subject, Unit, column, figure};
use crate::figures::{Estimate, Figures, Response};
use crate::format;
use crate::load::{AllCalls, Bound};
use crate::matrix;
use crate::openings::Openings;
use crate::standings::finding_name;

/// Every figure and label of a row.
#[rustfmt::skip]
pub(crate) static FIGURES: &[Figure] = &[
    figure("workload", Word, "Name of the workload", Any(|s| some(workload_name(s)?))),
    figure("entry", Word, "Name of the entry: server, protocol and variant", Any(|s| some(entry(s)?))).column(column("server", ColumnSlot::Entry).ranking(0).curve(0)),
    figure("trial", Count, "Number of the trial within its cell, from 1", Trial(|t| some(t.number))),
    figure("process", Count, "Number of the entry's process in the trial, from 1", Trial(|t| some(t.process))),
    figure("started", Word, "When the window began, UTC", Trial(|t| some(t.started.to_string()))),
    figure("failure", Word, "Why the trial failed; empty if it was measured to its end", Trial(|t| some(t.failure()?))),
    figure("server", Word, "Name of the server without protocol and variant", Any(|s| some(s.server?.server.as_str()))),
    figure("protocol", Word, "How calls travel", Any(|s| some(s.server?.protocol.name()))).column(column("protocol", ColumnSlot::Entry).ranking(0).curve(0).if_rows_differ()),
    figure("variant", Word, "The server's variant", Any(|s| some(s.server?.variant.as_deref()?))),
    figure("language", Word, "The server's language", Any(|s| some(s.server?.language.as_str()))).column(column("language", ColumnSlot::Entry).wide()),
    figure("library", Word, "The library under test", Any(|s| some(s.server?.library.as_str()))),
    figure("counterpart", Word, "The server that a client calls; empty for the reference server", Any(|s| some(s.server?.counterpart.as_deref()?))),
    figure("versions", Word, "Versions of the libraries, from the server's lock file", Cell(|c| some(c.versions()))).column(column("versions", ColumnSlot::Entry).wide()),
    figure("toolchains", Word, "Versions of the compilers and runtimes that built and run it", Cell(|c| some(c.toolchains()))).column(column("toolchains", ColumnSlot::Entry).wide()),
    figure("reply_checks", Word, "What a client checks of each reply, in its own words; empty for servers", Cell(|c| some(c.reply_checks.as_deref()?))).column(column("reply checks", ColumnSlot::Entry).wide().if_known()),
    figure("place_best", Count, "Best possible place, 1 for the fastest: 1 + the ranked entries that are surely faster", Cell(|c| some(c.place?.best as u64))).column(column("place", ColumnSlot::Rank).ranking(0).text(place).if_known()),
    figure("place_worst", Count, "Worst possible place: the ranked entries less those that are surely slower", Cell(|c| some(c.place?.worst as u64))),
    figure("verdict", Word, "What the figures are worth", Cell(|c| some(c.verdict.name()))).column(column("verdict", ColumnSlot::Verdict).ranking(0).curve(0)),
    figure("reason", Word, "Why the cell is not ranked", Cell(|c| some(c.verdict.reason.as_deref()?))),
    figure("limit", Word, "The side that was the limit of a client and the server that it calls: `client`, `server`, or `neither`, which may be both", Cell(|c| some(matrix::limit(c)?))),
    figure("trials_measured", Count, "Trials measured to their end", Cell(|c| some(c.measured))).of_failed(),
    figure("trials_planned", Count, "Trials planned", Cell(|c| some(c.planned))).of_failed(),
    figure("window_ns", Ns, "Length of the measured window", Window(|w| some(w.measured.window_ns))),
    figure("ranked_by", Word, "Figure that entries are ranked by: `calls_per_server_cpu_s`; `highest_per_s` in a search; `calls_per_s` if the server's CPU time is unknown", Cell(|c| some(ranked_by(c.by)))),
    figure("ranked_per_s", PerSecond, "That figure", Cell(|c| some(c.ranked()?.value))),
    figure("ranked_per_s_low", PerSecond, "Lower end of its interval for comparisons: two entries of a table differ clearly if theirs do not overlap; equal to `ranked_own_per_s_low` for a single entry", Cell(|c| low(c.ranked()?))),
    figure("ranked_per_s_high", PerSecond, "Upper end of that interval", Cell(|c| high(c.ranked()?))),
    figure("ranked_own_per_s_low", PerSecond, "Lower end of the entry's own 95 % interval, including effects of the machine on all entries of the run", Cell(|c| some(c.ranked()?.own?.low))),
    figure("ranked_own_per_s_high", PerSecond, "Upper end of that interval", Cell(|c| some(c.ranked()?.own?.high))),
    figure("ranked_half_width_share", Share, "Half the width from `ranked_per_s_low` to `ranked_per_s_high`, relative to the figure", Cell(|c| some(c.ranked()?.half_width()?))),
    figure("stalls_decide", Flag, "Whether a few outlying windows decide that figure", Cell(|c| some(c.stalls_decide))),
    figure("leader", Word, "The fastest ranked entry; empty for itself, and for unranked entries", Cell(|c| some(c.leader.as_ref()?.first.as_str()))),
    figure("leader_finding", Word, "How the leader compares with the entry: `faster`, `slightly faster` (by less than the precision), `equal` (within it), `open`", Cell(|c| some(finding_name(c.leader.as_ref()?.finding)))),
    figure("of_leader_share", Share, "`ranked_per_s` as a share of the leader's", Cell(|c| some(1.0 / c.leader.as_ref()?.ratio))).column(column("% of best", ColumnSlot::Speed).wide().near(&[1.0])),
    figure("of_leader_share_low", Share, "Lower end of its interval; those of all pairs of the table hold at once with 95 % confidence", Cell(|c| some(1.0 / c.leader.as_ref()?.range?.high))),
    figure("of_leader_share_high", Share, "Upper end of that interval", Cell(|c| some(1.0 / c.leader.as_ref()?.range?.low))),
    figure("calls_per_server_cpu_s", PerSecond, "Calls that ended ok per second of server CPU time; for a cell the mean over processes", Windows(|f| some(f.server?.calls_per_cpu_s?.value))).column(column("calls/cpu-s", ColumnSlot::Speed).ranking(0).ranks(RankedBy::CallsPerCpuSecond).text(|s| speed(s, RankedBy::CallsPerCpuSecond))),
    figure("calls_per_server_cpu_s_low", PerSecond, "Lower end of its interval for comparisons, as for `ranked_per_s`", Cell(|c| low(c.estimate(RankedBy::CallsPerCpuSecond)?))),
    figure("calls_per_server_cpu_s_high", PerSecond, "Upper end of that interval", Cell(|c| high(c.estimate(RankedBy::CallsPerCpuSecond)?))),
    figure("calls_per_counterpart_cpu_s", PerSecond, "Calls that ended ok per second of CPU time of the server that a client calls; empty without one", Any(|s| some(per_counterpart_cpu_s(s)?))).column(column("calls/server-cpu-s", ColumnSlot::Speed).ranking(0).if_known()),
    figure("raw_calls_per_server_cpu_s", PerSecond, "Calls that ended ok per second of server CPU time, over all trials, as measured", Cell(|c| some(c.estimate(RankedBy::CallsPerCpuSecond)?.raw))).column(column("raw calls/cpu-s", ColumnSlot::Speed).wide()),
    figure("cost_per_million_calls", Money, "Cost of a million calls at `price`: of the CPU time that they use, and of the peak memory for as long as they take at `calls_per_s`; empty without a price", Cell(|c| some(c.cost_per_million()?))).column(column("cost/M calls", ColumnSlot::Speed).ranking(1).curve(1).if_known().text(cost)),
    figure("price", Word, "Price of servers' CPU time and memory, with its currency", Cell(|c| some(c.price.as_ref()?.to_string()))),
    figure("calls_per_s", PerSecond, "Calls that ended ok, per second; for a cell the mean over processes", Windows(|f| some(f.calls_per_s.value))).column(column("calls/s", ColumnSlot::Speed).ranking(0).ranks(RankedBy::CallsPerSecond).curve(5).text(|s| speed(s, RankedBy::CallsPerSecond))),
    figure("calls_per_s_low", PerSecond, "Lower end of its interval for comparisons, as for `ranked_per_s`", Cell(|c| low(c.estimate(RankedBy::CallsPerSecond)?))),
    figure("calls_per_s_high", PerSecond, "Upper end of that interval", Cell(|c| high(c.estimate(RankedBy::CallsPerSecond)?))),
    figure("raw_calls_per_s", PerSecond, "Calls that ended ok, per second, mean over trials, as measured", Cell(|c| some(c.estimate(RankedBy::CallsPerSecond)?.raw))),
    figure("min_ns", Ns, "Shortest response time of an ok call, exact", Windows(|f| some(f.response.as_ref()?.min_ns))),
    figure("mean_ns", Ns, "Mean response time of ok calls, exact", Windows(|f| some(f.response.as_ref()?.mean_ns))),
    figure("stddev_ns", Ns, "Population standard deviation of the response times of ok calls", Windows(|f| some(f.response.as_ref()?.stddev_ns))),
    figure("p50_ns", Ns, "50th percentile of the response times of ok calls", Windows(|f| response(f, 0.5))).column(column("p50", ColumnSlot::Figures).ranking(3).curve(0)),
    figure("p75_ns", Ns, "75th percentile of the response times of ok calls", Windows(|f| response(f, 0.75))),
    figure("p90_ns", Ns, "90th percentile of the response times of ok calls", Windows(|f| response(f, 0.9))).column(column("p90", ColumnSlot::Figures).wide().curve(4)),
    figure("p95_ns", Ns, "95th percentile of the response times of ok calls", Windows(|f| response(f, 0.95))).column(column("p95", ColumnSlot::Figures).wide()),
    figure("p99_ns", Ns, "99th percentile of the response times of ok calls", Windows(|f| response(f, 0.99))).column(column("p99", ColumnSlot::Figures).ranking(1).curve(0)),
    figure("p999_ns", Ns, "99.9th percentile of the response times of ok calls", Windows(|f| response(f, 0.999))).column(column("p99.9", ColumnSlot::Figures).wide().curve(0)),
    figure("max_ns", Ns, "Longest response time of an ok call, exact", Windows(|f| some(f.response.as_ref()?.max_ns))).column(column("max", ColumnSlot::Figures).wide().curve(3)),
    figure("connections_per_s", PerSecond, "Connections opened per second; empty for long connections", Windows(|f| some(f.churn.as_ref()?.connections_per_s))).column(column("connections/s", ColumnSlot::Figures).ranking(5).if_known()),
    figure("connect_mean_ns", Ns, "Mean connect time, exact", Windows(|f| some(f.churn.as_ref()?.connect.mean_ns))),
    figure("connect_p50_ns", Ns, "50th percentile of the connect times", Windows(|f| connect(f, 0.5))).column(column("connect p50", ColumnSlot::Figures).ranking(2).if_known()),
    figure("connect_p99_ns", Ns, "99th percentile of the connect times", Windows(|f| connect(f, 0.99))).column(column("connect p99", ColumnSlot::Figures).ranking(4).if_known()),
    figure("connect_max_ns", Ns, "Longest connect time, exact", Windows(|f| some(f.churn.as_ref()?.connect.max_ns))),
    figure("tcp_p50_ns", Ns, "50th percentile of the times from before a socket is created until TCP's handshake is done; empty for long connections", Windows(|f| step(f, |o| &o.tcp, 0.5))).column(column("TCP p50", ColumnSlot::Figures).wide().if_known()),
    figure("tcp_p99_ns", Ns, "99th percentile of these times", Windows(|f| step(f, |o| &o.tcp, 0.99))),
    figure("full_handshakes", Count, "Full handshakes of TLS that ended in the window", Windows(|f| handshakes(f, |o| &o.full_handshake))),
    figure("full_handshake_p50_ns", Ns, "50th percentile of the times from there until the server can be written to over TLS, of full handshakes", Windows(|f| step(f, |o| &o.full_handshake, 0.5))).column(column("TLS full p50", ColumnSlot::Figures).wide().if_known()),
    figure("full_handshake_p99_ns", Ns, "99th percentile of these times", Windows(|f| step(f, |o| &o.full_handshake, 0.99))),
    figure("resumed_handshakes", Count, "Handshakes of TLS that resumed a session and ended in the window", Windows(|f| handshakes(f, |o| &o.resumed_handshake))),
    figure("resumed_handshake_p50_ns", Ns, "50th percentile of the same times of handshakes that resumed a session", Windows(|f| step(f, |o| &o.resumed_handshake, 0.5))).column(column("TLS resumed p50", ColumnSlot::Figures).wide().if_known()),
    figure("resumed_handshake_p99_ns", Ns, "99th percentile of these times", Windows(|f| step(f, |o| &o.resumed_handshake, 0.99))),
    figure("first_byte_p50_ns", Ns, "50th percentile of the times from the last handshake until the first byte of the protocol came: over HTTP/2 the server's SETTINGS, otherwise the first reply; empty for long connections", Windows(|f| step(f, |o| &o.first_byte, 0.5))).column(column("first byte p50", ColumnSlot::Figures).wide().if_known()),
    figure("first_byte_p99_ns", Ns, "99th percentile of these times", Windows(|f| step(f, |o| &o.first_byte, 0.99))),
    figure("tls_records_per_reply", Ratio, "Records of TLS that the client received, per call that ended ok", Windows(|f| some(f.records_per_reply?))).column(column("records/reply", ColumnSlot::Figures).wide().if_known()),
    figure("call_mean_ns", Ns, "Mean service time of ok calls without the connect, exact; empty for long connections", Windows(|f| some(f.churn.as_ref()?.call.as_ref()?.mean_ns))),
    figure("call_p50_ns", Ns, "50th percentile of the service times of ok calls without the connect; empty for long connections", Windows(|f| call(f, 0.5))).column(column("call p50", ColumnSlot::Figures).ranking(2).if_known()),
    figure("call_p99_ns", Ns, "99th percentile of the service times of ok calls without the connect; empty for long connections", Windows(|f| call(f, 0.99))).column(column("call p99", ColumnSlot::Figures).ranking(4).if_known()),
    figure("calls", Count, "Calls that came due", Windows(|f| some(f.outcomes.total()))).of_failed(),
    figure(OutcomeKind::Ok.key(), Count, "Calls answered correctly", Windows(|f| some(f.outcomes.ok))).of_failed(),
    figure(OutcomeKind::WrongAnswer.key(), Count, "Calls answered with success but wrong content", Windows(|f| some(f.outcomes.wrong_answer))).of_failed(),
    figure(OutcomeKind::Status.key(), Count, "Calls that ended with an error status of the protocol", Windows(|f| some(f.outcomes.status.values().sum::<u64>()))).of_failed(),
    figure(OutcomeKind::Timeout.key(), Count, "Calls not answered in time", Windows(|f| some(f.outcomes.timeout))).of_failed(),
    figure(OutcomeKind::Transport.key(), Count, "Calls whose connection was lost, or whose peer violated the protocol", Windows(|f| some(f.outcomes.transport))).of_failed(),
    figure(OutcomeKind::NotSent.key(), Count, "Calls that came due but never left the client", Windows(|f| some(f.outcomes.not_sent))).of_failed(),
    figure("error_share", Share, "Share of due calls that did not end ok", Windows(|f| some(f.outcomes.error_share()))).of_failed().column(column("errors", ColumnSlot::Figures).wide().curve(2).text(errors)),
    figure("server_cpu_share", Share, "CPU time of the server, as a share of its limit", Windows(|f| some(f.server?.cpu_share))).column(column("server CPU", ColumnSlot::Figures).wide().curve(6).near(&[SATURATED])),
    figure("server_cpu_user_s", Unit::Seconds, "CPU time of the server in user mode, over all trials", Cell(|c| some(c.figures.as_ref()?.server?.cpu_user_s))),
    figure("server_cpu_system_s", Unit::Seconds, "CPU time of the server in the kernel, over all trials", Cell(|c| some(c.figures.as_ref()?.server?.cpu_system_s))),
    figure("server_cpu_user_ns", Ns, "CPU time of the server in user mode", Window(|w| some(w.measured.server.as_ref()?.cpu_user_ns))),
    figure("server_cpu_system_ns", Ns, "CPU time of the server in the kernel", Window(|w| some(w.measured.server.as_ref()?.cpu_system_ns))),
    figure("compiler_cpu_ns", Ns, "CPU time of the runtime's compiler threads, recognised by name", Window(|w| some(w.measured.server.as_ref()?.compiler_cpu_ns))),
    figure("throttled_ns", Ns, "Time for which the kernel's CPU controller throttled the server", Window(|w| some(w.measured.server.as_ref()?.throttled_ns?))),
    figure("memory_peak_bytes", Bytes, "Peak memory use of the server since it started, excluding page cache; the largest of the trials", Windows(|f| some(f.server?.memory_peak_bytes))).column(column("memory", ColumnSlot::Figures).ranking(2)),
    figure("memory_anon_bytes", Bytes, "Anonymous and shared memory of the server at the window's end; mean over trials", Windows(|f| some(f.server?.memory_anon_bytes))),
    figure("memory_cache_bytes", Bytes, "Page cache charged to the server at the window's end", Window(|w| some(w.measured.server.as_ref()?.memory_cache_bytes?))),
    figure("throttled_share", Share, "Share of the time for which the kernel's CPU controller throttled the server", Windows(|f| some(f.server?.throttled_share?))),
    figure("switches_voluntary", Count, "Voluntary context switches of all the server's threads, including ended ones", Window(|w| some(w.measured.server.as_ref()?.switches_voluntary))),
    figure("switches_involuntary", Count, "Involuntary context switches of all the server's threads, including ended ones", Window(|w| some(w.measured.server.as_ref()?.switches_involuntary))),
    figure("server_threads", Count, "Threads of the server at the window's end", Window(|w| some(w.measured.server.as_ref()?.threads))),
    figure("gc_pauses", Count, "Pauses for garbage collection that ended in the window; empty if runtime statistics were not asked for, or if the runtime does not report them", Windows(|f| some(f.runtime.as_ref()?.pauses.count))),
    figure("gc_pause_total_ns", Ns, "Sum of those pauses", Windows(|f| some(f.runtime.as_ref()?.pauses.total_ns))),
    figure("gc_pause_mean_ns", Ns, "Mean of those pauses; empty without pauses", Windows(gc_mean)),
    figure("gc_pause_max_ns", Ns, "Longest of those pauses", Windows(|f| some(f.runtime.as_ref()?.pauses.max_ns))).column(column("longest GC", ColumnSlot::Figures).wide().if_known()),
    figure("gc_pause_share", Share, "Sum of those pauses as a share of the window; can exceed 1 with several processes", Windows(|f| some(f.runtime.as_ref()?.pause_share))).column(column("GC", ColumnSlot::Figures).wide().if_known()),
    figure("gc_kinds", Word, "Those pauses by the runtime's own kinds, such as generations: count, sum, mean and longest", Windows(|f| some(f.runtime.as_ref()?.kinds()))),
    figure("allocated_bytes", Bytes, "Bytes that the server allocated in the window; empty if the runtime does not count them", Windows(|f| some(f.runtime.as_ref()?.allocated_bytes?))),
    figure("allocated_bytes_per_s", PerSecond, "Those bytes per second", Windows(|f| some(f.runtime.as_ref()?.allocated_per_s?))),
    figure("allocated_per_call_bytes", Bytes, "Those bytes per call that ended ok in the window", Windows(|f| some(f.runtime.as_ref()?.allocated_per_call_bytes?))).column(column("allocated/call", ColumnSlot::Figures).wide().if_known()),
    figure("heap_peak_bytes", Bytes, "Largest observed heap of the server in the window, including garbage; the largest of the trials; empty if the runtime does not report it", Windows(|f| some(f.runtime.as_ref()?.heap_peak_bytes?))).column(column("heap", ColumnSlot::Figures).wide().if_known()),
    figure("counterpart_gc_pause_share", Share, "Pauses for garbage collection of the server that a client calls, as a share of the window; empty without one, or without runtime statistics", Windows(|f| some(f.counterpart_runtime.as_ref()?.pause_share))).column(column("server GC", ColumnSlot::Figures).wide().if_known()),
    figure("counterpart_allocated_per_call_bytes", Bytes, "Bytes that this server allocated per call that ended ok in the window", Windows(|f| some(f.counterpart_runtime.as_ref()?.allocated_per_call_bytes?))).column(column("server allocated/call", ColumnSlot::Figures).wide().if_known()),
    figure("client_threads", Count, "Load threads", Window(|w| some(w.measured.client.threads))),
    figure("client_cpu_share", Share, "CPU time of the load threads, as a share of one CPU each", Windows(|f| some(f.client.cpu_share))).column(column("client CPU", ColumnSlot::Figures).wide().curve(7).near(&[SATURATED])),
    figure("client_busiest_share", Share, "CPU time of the busiest load thread, as a share of a CPU: includes waiting for a CPU, excludes busy-waiting", Windows(|f| some(f.client.busiest_share))),
    figure("client_cpu_ns", Ns, "CPU time of the load threads", Window(|w| some(w.measured.client.cpu_ns))),
    figure("client_awake_ns", Ns, "CPU time of the load threads spent busy-waiting for calls due within microseconds", Window(|w| some(w.measured.client.awake_ns))),
    figure("client_run_delay_ns", Ns, "Time for which load threads were ready to run without a CPU", Window(|w| some(w.measured.client.run_delay_ns?))),
    figure("client_busiest_ns", Ns, "CPU time of the busiest load thread: includes waiting for a CPU, excludes busy-waiting", Window(|w| some(w.measured.client.busiest_ns))),
    figure("steal_ns", Ns, "Time that the hypervisor took from the CPUs of client and server", Windows(|f| some(f.steal_ns))),
    figure("client_steal_ns", Ns, "Part of that time, from the client's CPUs", Window(|w| some(w.measured.machine.client_steal_ns))),
    figure("server_steal_ns", Ns, "Part of that time, from the server's CPUs; shared CPUs count for both", Window(|w| some(w.measured.machine.server_steal_ns?))),
    figure("rivals", Count, "Other runs of rpcbench on some of the same CPUs when the window ended", Window(|w| some(w.measured.machine.rivals))),
    figure("cpu_pressure_ns", Ns, "Time for which some task on the machine waited for a CPU", Window(|w| some(w.measured.machine.cpu_pressure_ns?))),
    figure("received_bytes", Bytes, "Bytes received in the window on all connections, with everything that the protocol adds", Window(|w| some(Some(w.measured.bytes_in).filter(|bytes| *bytes > 0)?))),
    figure("sent_bytes", Bytes, "Bytes sent in the window, likewise", Window(|w| some(Some(w.measured.bytes_out).filter(|bytes| *bytes > 0)?))),
    figure("connections_opened", Count, "Connections opened in the window or while waiting for its last calls; only for connections of a number of calls", Window(|w| some(w.measured.connections.opened))),
    figure("connections_ended", Count, "Connections closed by the peer or lost, in the window or while waiting for its last calls", Window(|w| some(w.measured.connections.ended))),
    figure("connections_orderly", Count, "Of those, the ones that the server closed cleanly, with every call answered", Window(|w| some(w.measured.connections.orderly))),
    figure("connections_reset", Count, "Of those, the ones that the server reset", Window(|w| some(w.measured.connections.reset))),
    figure("connections_retired", Count, "Connections that the client closed as planned, after their last call", Window(|w| some(w.measured.connections.retired))),
    figure("connects_failed", Count, "Attempts to open a connection that failed", Window(|w| some(w.measured.connections.connect_failed))),
    figure("connects_refused", Count, "Of those, the ones that the server refused", Window(|w| some(w.measured.connections.connect_refused))),
    figure("connections_broken", Count, "Connections on which the server violated the protocol", Window(|w| some(w.measured.connections.broken))),
    figure("connections_reopened", Count, "Attempts to replace a connection", Window(|w| some(w.measured.connections.reopened))),
    figure("calls_refused", Count, "Calls that the server reported as unprocessed; a call refused twice counts twice", Window(|w| some(w.measured.connections.refused))),
    figure("calls_resent", Count, "Times that such a call was sent again, including calls refused before the window", Window(|w| some(w.measured.connections.resent))),
    figure("steady_after_ms", Milliseconds, "Time from the first load until the server was steady; mean over processes", Cell(|c| some(c.steady_after_ms?))).column(column("steady", ColumnSlot::Figures).wide().text(steady)),
    figure("cold_calls_per_s", PerSecond, "Calls per second over the first second of load; mean over processes", Cell(|c| some(c.cold_calls_per_s?))),
    figure("arrivals", Word, "Arrival process; for a trial with its rate in calls per second", Any(|s| some(arrivals(s)?))),
    figure("load_share", Share, "`offered_per_s` as a share of `capacity_calls_per_s`", Cell(|c| some(c.offered_per_s? / c.capacity_per_s?))).of_failed().column(column("load", ColumnSlot::Load).curve(0)),
    figure("offered_per_s", PerSecond, "Calls that came due per second; mean over trials", Cell(|c| some(c.offered_per_s?))).of_failed().column(column("offered/s", ColumnSlot::Load).curve(1)),
    figure("capacity_calls_per_s", PerSecond, "Calls per second of the closed loop of which the load is a share", Cell(|c| some(c.capacity_per_s?))).of_failed(),
    figure("threshold", Word, "Condition that the search's highest rate must meet", Any(|s| some(s.workload?.find_max?.to_string()))),
    figure("highest_per_s", PerSecond, "Highest rate at which the threshold held; mean over processes", Cell(|c| some(c.highest_rate?.value))).column(column("highest calls/s", ColumnSlot::Speed).ranking(0).ranks(RankedBy::HighestRate).text(|s| speed(s, RankedBy::HighestRate))),
    figure("highest_per_s_low", PerSecond, "Lower end of its interval for comparisons, as for `ranked_per_s`", Cell(|c| low(c.highest_rate?))),
    figure("highest_per_s_high", PerSecond, "Upper end of the interval of the lowest rates at which the threshold did not hold", Cell(|c| high(c.highest_rate?))),
    figure("pacing_due", Count, "Calls that came due in the window", Window(|w| some(w.measured.pacing?.due))),
    figure("pacing_late", Count, "Of those, the ones that the client started more than 1 ms late", Window(|w| some(w.measured.pacing?.late))),
    figure("pacing_held_back", Count, "Of those, the ones that no connection had room for when they came due", Window(|w| some(w.measured.pacing?.held_back))),
    figure("service_min_ns", Ns, "Shortest service time of an ok call, exact", Window(|w| some(w.measured.service.as_ref()?.min_ns))),
    figure("service_mean_ns", Ns, "Mean service time of ok calls, exact", Window(|w| some(w.measured.service.as_ref()?.mean_ns))),
    figure("service_stddev_ns", Ns, "Population standard deviation of the service times of ok calls", Window(|w| some(w.measured.service.as_ref()?.stddev_ns))),
    figure("service_p50_ns", Ns, "50th percentile of the service times of ok calls", Window(|w| some(w.measured.service.as_ref()?.p50_ns))),
    figure("service_p90_ns", Ns, "90th percentile of the service times of ok calls", Window(|w| some(w.measured.service.as_ref()?.p90_ns))),
    figure("service_p95_ns", Ns, "95th percentile of the service times of ok calls", Window(|w| some(w.measured.service.as_ref()?.p95_ns))),
    figure("service_p99_ns", Ns, "99th percentile of the service times of ok calls", Window(|w| some(w.measured.service.as_ref()?.p99_ns))),
    figure("service_p999_ns", Ns, "99.9th percentile of the service times of ok calls", Window(|w| some(w.measured.service.as_ref()?.p999_ns))),
    figure("service_max_ns", Ns, "Longest service time of an ok call, exact", Window(|w| some(w.measured.service.as_ref()?.max_ns))),
    figure("send_lag_min_ns", Ns, "Shortest send lag of an ok call, exact", Window(|w| some(w.measured.send_lag.as_ref()?.min_ns))),
    figure("send_lag_mean_ns", Ns, "Mean send lag of ok calls, exact", Window(|w| some(w.measured.send_lag.as_ref()?.mean_ns))),
    figure("send_lag_stddev_ns", Ns, "Population standard deviation of the send lags of ok calls", Window(|w| some(w.measured.send_lag.as_ref()?.stddev_ns))),
    figure("send_lag_p50_ns", Ns, "50th percentile of the send lags of ok calls", Window(|w| some(w.measured.send_lag.as_ref()?.p50_ns))),
    figure("send_lag_p90_ns", Ns, "90th percentile of the send lags of ok calls", Window(|w| some(w.measured.send_lag.as_ref()?.p90_ns))),
    figure("send_lag_p95_ns", Ns, "95th percentile of the send lags of ok calls", Window(|w| some(w.measured.send_lag.as_ref()?.p95_ns))),
    figure("send_lag_p99_ns", Ns, "99th percentile of the send lags of ok calls", Window(|w| some(w.measured.send_lag.as_ref()?.p99_ns))),
    figure("send_lag_p999_ns", Ns, "99.9th percentile of the send lags of ok calls", Window(|w| some(w.measured.send_lag.as_ref()?.p999_ns))),
    figure("send_lag_max_ns", Ns, "Longest send lag of an ok call, exact", Window(|w| some(w.measured.send_lag.as_ref()?.max_ns))),
    figure("all_calls_p50_ns", Ns, "50th percentile of response time over all calls; empty if it falls on a call that did not end ok", Window(|w| all(w.all_calls()?, 500_000))),
    figure("all_calls_p90_ns", Ns, "90th percentile of response time over all calls; empty if it falls on a call that did not end ok", Window(|w| all(w.all_calls()?, 900_000))),
    figure("all_calls_p95_ns", Ns, "95th percentile of response time over all calls; empty if it falls on a call that did not end ok", Window(|w| all(w.all_calls()?, 950_000))),
    figure("all_calls_p99_ns", Ns, "99th percentile of response time over all calls; empty if it falls on a call that did not end ok", Window(|w| all(w.all_calls()?, 990_000))),
    figure("all_calls_p999_ns", Ns, "99.9th percentile of response time over all calls; empty if it falls on a call that did not end ok", Window(|w| all(w.all_calls()?, 999_000))),
    figure("run_id", Word, "Identifier of the run: a UUID that sorts by start time", Run(|h| some(h.id.to_string()))),
    figure("shape", Word, "Content of a call", Any(|s| some(s.workload?.content.shape()?))),
    figure("target", Word, "What calls of another service address", Any(|s| some(s.workload?.content.call()?.target.as_str()))),
    figure("connections", Count, "Connections over all load threads", Any(connections)),
    figure("connection_life", Word, "Calls that a connection carries before the client closes it", Any(|s| some(s.workload?.connection_life.to_string()))),
    figure("in_flight", Count, "Calls in flight over all connections; an upper limit in open loop", Any(|s| some(s.workload?.in_flight))),
    figure("cpus", Count, "CPUs available to the server", Run(|h| some(h.plan.limits.cpus))),
    figure("memory_limit_bytes", Bytes, "Memory available to the server", Run(|h| some(h.plan.limits.memory_bytes?))),
    figure("machine_cpu", Word, "Model of the machine's CPU", Run(|h| some(h.machines.client.cpu.model.as_str()))),
    figure("machine_kernel", Word, "Version of the machine's kernel", Run(|h| some(h.machines.client.kernel.as_str()))),
    figure("tool_version", Word, "Version of rpcbench", Run(|h| some(h.tool.version.as_str()))),
];

fn connect(figures: &Figures, q: f64) -> Option<Value> {
    some(figures.churn.as_ref()?.connect.quantile(q))
}

/// A quantile of a step of opening connections.
fn step(figures: &Figures, of: fn(&Openings) -> &Option<Response>, q: f64) -> Option<Value> {
    some(of(&figures.openings).as_ref()?.quantile(q))
}

fn handshakes(figures: &Figures, of: fn(&Openings) -> &Option<Response>) -> Option<Value> {
    some(of(&figures.openings).as_ref()?.histogram().count())
}

fn gc_mean(figures: &Figures) -> Option<Value> {
    let pauses = figures.runtime.as_ref()?.pauses;
    (pauses.count > 0).then(|| (pauses.total_ns as f64 / pauses.count as f64).into())
}

fn call(figures: &Figures, q: f64) -> Option<Value> {
    some(figures.churn.as_ref()?.call.as_ref()?.quantile(q))
}

fn connections(subject: &Subject) -> Option<Value> {
    let workload = subject.workload?;
    let under = |server: &PlannedServer| workload.connections_under(server.protocol);
    some(subject.server.map_or(workload.connections, under))
}

/// A quantile of the response times of ok calls.
fn response(figures: &Figures, q: f64) -> Option<Value> {
    some(figures.response.as_ref()?.quantile(q))
}

fn all(calls: &AllCalls, millionths: u32) -> Option<Value> {
    match calls.quantile(millionths) {
        Bound::At(ns) => some(ns),
        Bound::Above(_) => None,
    }
}

fn low(estimate: Estimate) -> Option<Value> {
    some(estimate.range?.low)
}

fn high(estimate: Estimate) -> Option<Value> {
    some(estimate.range?.high)
}

/// The exported field that entries are ranked by.
pub(crate) fn ranked_by(by: RankedBy) -> &'static str {
    match by {
        RankedBy::CallsPerCpuSecond => "calls_per_server_cpu_s",
        RankedBy::CallsPerSecond => "calls_per_s",
        RankedBy::HighestRate => "highest_per_s",
    }
}

fn per_counterpart_cpu_s(subject: &Subject) -> Option<f64> {
    subject.server?.counterpart.as_ref()?;
    if subject.cell.is_some_and(|cell| cell.verdict.is_failed()) {
        return None;
    }
    subject.figures.as_ref()?.client.calls_per_cpu_s
}

fn workload_name<'a>(subject: &Subject<'a>) -> Option<&'a str> {
    let of_trial = subject.trial.map(|trial| trial.workload.as_str());
    of_trial.or_else(|| Some(subject.workload?.name.as_str()))
}

fn entry<'a>(subject: &Subject<'a>) -> Option<&'a str> {
    let of_trial = subject.trial.map(|trial| trial.entry.as_str());
    of_trial.or_else(|| Some(subject.server?.entry.as_str()))
}

fn arrivals(subject: &Subject) -> Option<String> {
    let of_trial = subject.trial.and_then(|trial| trial.arrivals);
    Some(of_trial.or_else(|| Some(subject.workload?.arrivals))?.to_string())
}

/// `2`; `2-4` if undecided.
fn place(subject: &Subject) -> Option<String> {
    let place = subject.cell?.place?;
    Some(match place.best == place.worst {
        true => place.best.to_string(),
        false => format!("{}-{}", place.best, place.worst),
    })
}

/// `98.2k ±1.6 %` for the ranking figure; `98.2k` for others.
fn speed(subject: &Subject, by: RankedBy) -> Option<String> {
    let Some(row) = subject.cell else {
        return Some(format::si(subject.figures.as_deref()?.calls_per_s.value));
    };
    let estimate = row.estimate(by)?;
    Some(if by == row.by { estimate.rate() } else { format::si(estimate.value) })
}

/// `$0.0000655`.
fn cost(subject: &Subject) -> Option<String> {
    let row = subject.cell?;
    let currency = &row.price.as_ref()?.currency;
    Some(format!("{currency}{}", format::money(row.cost_per_million()?)))
}

/// A plain `0` if no call failed.
fn errors(subject: &Subject) -> Option<String> {
    Some(match subject.figures.as_deref()?.outcomes.error_share() {
        0.0 => "0".to_owned(),
        share => format::percent(share),
    })
}

fn steady(subject: &Subject) -> Option<String> {
    Some(match subject.cell?.steady_after_ms? {
        0 => "at once".to_owned(),
        ms => format::duration_ns(ms as f64 * 1e6),
    })
}
