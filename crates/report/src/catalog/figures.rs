//! The list. A figure more is a line more; its place here is its place in exports and, within a [`Place`], in tables.

use rpcbench_record::{OutcomeKind, PlannedServer, RankedBy};

use super::Of::{Any, Cell, Run, Trial, Window, Windows};
use super::Unit::{Bytes, Count, Flag, Milliseconds, Nanoseconds as Ns, PerSecond, Share, Word};
use super::value::{Value, some};
use super::{Figure, Place, Subject, Unit, figure};
use crate::figures::{Estimate, Figures};
use crate::format;
use crate::load::{AllCalls, Bound};
use crate::standings::finding_name;

/// Every figure and label of a row.
#[rustfmt::skip]
pub(crate) static FIGURES: &[Figure] = &[
    figure("workload", Word, "Name of the workload", Any(|s| some(workload_name(s)?))),
    figure("entry", Word, "Name of the entry: server, protocol and variant", Any(|s| some(entry(s)?))).column("server", Place::Entry).ranking(0).curve(0),
    figure("trial", Count, "Number of the trial within its cell, from 1", Trial(|t| some(t.number))),
    figure("process", Count, "Number of the entry's process that served the trial, from 1", Trial(|t| some(t.process))),
    figure("started", Word, "When the window began, UTC", Trial(|t| some(t.started.to_string()))),
    figure("failure", Word, "Why the trial failed; empty where it was measured to its end", Trial(|t| some(t.failure()?))),
    figure("server", Word, "Name of the server without protocol and variant", Any(|s| some(&s.server?.server))),
    figure("protocol", Word, "How calls travel", Any(|s| some(s.server?.protocol.name()))).column("protocol", Place::Entry).ranking(0).curve(0).if_rows_differ(),
    figure("variant", Word, "The server's variant", Any(|s| some(s.server?.variant.as_ref()?))),
    figure("language", Word, "The server's language", Any(|s| some(&s.server?.language))).column("language", Place::Entry).wide(),
    figure("library", Word, "The library under test", Any(|s| some(&s.server?.library))),
    figure("versions", Word, "Versions of the libraries, from the server's lock file", Cell(|c| some(c.versions()))).column("versions", Place::Entry).wide(),
    figure("toolchains", Word, "Versions of the compilers and runtimes that built and run it", Cell(|c| some(c.toolchains()))).column("toolchains", Place::Entry).wide(),
    figure("place_best", Count, "Best place that it may have, 1 for the fastest: 1 + the ranked entries that are surely faster", Cell(|c| some(c.place?.best as u64))).column("place", Place::Rank).ranking(0).text(place),
    figure("place_worst", Count, "Worst place that it may have: the ranked entries less those that are surely slower", Cell(|c| some(c.place?.worst as u64))),
    figure("verdict", Word, "What the figures are worth", Cell(|c| some(c.verdict.name()))).column("verdict", Place::Verdict).ranking(0).curve(0),
    figure("reason", Word, "Why the verdict keeps the cell out of the ranking", Cell(|c| some(c.verdict.reason()?))),
    figure("trials_measured", Count, "Trials measured to their end", Cell(|c| some(c.measured))),
    figure("trials_planned", Count, "Trials planned", Cell(|c| some(c.planned))),
    figure("window_ns", Ns, "Length of the measured window", Window(|w| some(w.measured.window_ns))),
    figure("ranked_by", Word, "Figure that entries are ranked by: `calls_per_server_cpu_s`; `highest_per_s` where a rate was searched for; `calls_per_s` where the server can't be seen", Cell(|c| some(ranked_by(c.by)))),
    figure("ranked_per_s", PerSecond, "That figure", Cell(|c| some(c.ranked()?.value))),
    figure("ranked_per_s_low", PerSecond, "Lower end of its interval: where those of two rows of a table do not overlap, the entries are told apart; of an entry alone, as `ranked_own_per_s_low`", Cell(|c| low(c.ranked()?))),
    figure("ranked_per_s_high", PerSecond, "Upper end of it", Cell(|c| high(c.ranked()?))),
    figure("ranked_own_per_s_low", PerSecond, "Lower end of its own 95 % interval, with what the machine did to all entries of the run", Cell(|c| some(c.ranked()?.own?.low))),
    figure("ranked_own_per_s_high", PerSecond, "Upper end of it", Cell(|c| some(c.ranked()?.own?.high))),
    figure("ranked_half_width_share", Share, "Half of the interval from `ranked_per_s_low` to `ranked_per_s_high`, relative to the figure", Cell(|c| some(c.ranked()?.half_width()?))),
    figure("stalls_decide", Flag, "Whether a few windows, far from the others, decide that figure", Cell(|c| some(c.stalls_decide))),
    figure("leader", Word, "The fastest entry that has a rank; empty for itself, and without a rank", Cell(|c| some(&c.leader.as_ref()?.first))),
    figure("leader_finding", Word, "What is known of the leader against the entry: `faster`, `slightly faster` (by less than the precision), `equal` (within it), `open`", Cell(|c| some(finding_name(c.leader.as_ref()?.finding)))),
    figure("of_leader_share", Share, "`ranked_per_s` of the leader's", Cell(|c| some(1.0 / c.leader.as_ref()?.ratio))).column("of first", Place::Speed).wide(),
    figure("of_leader_share_low", Share, "Lower end of its interval, which holds for all pairs of the table at once with 95 %", Cell(|c| some(1.0 / c.leader.as_ref()?.range?.high))),
    figure("of_leader_share_high", Share, "Upper end of its interval, as above", Cell(|c| some(1.0 / c.leader.as_ref()?.range?.low))),
    figure("calls_per_server_cpu_s", PerSecond, "Calls that ended ok for each second of the server's CPU time; of a cell the mean of its processes, adjusted by the machine reference where it can be", Windows(|f| some(f.server?.calls_per_cpu_s?.value))).column("calls/cpu-s", Place::Speed).ranking(0).ranks(RankedBy::CallsPerCpuSecond).text(|s| speed(s, RankedBy::CallsPerCpuSecond)),
    figure("calls_per_server_cpu_s_low", PerSecond, "Lower end of its interval, which is read as that of `ranked_per_s`", Cell(|c| low(c.estimate(RankedBy::CallsPerCpuSecond)?))),
    figure("calls_per_server_cpu_s_high", PerSecond, "Upper end of it", Cell(|c| high(c.estimate(RankedBy::CallsPerCpuSecond)?))),
    figure("raw_calls_per_server_cpu_s", PerSecond, "Calls that ended ok for each second of the server's CPU time, over all trials, as measured", Cell(|c| some(c.estimate(RankedBy::CallsPerCpuSecond)?.raw))).column("raw calls/cpu-s", Place::Speed).wide(),
    figure("calls_per_s", PerSecond, "Calls that ended ok, a second; of a cell the mean of its processes, adjusted by the machine reference where it can be", Windows(|f| some(f.calls_per_s.value))).column("calls/s", Place::Speed).ranking(0).ranks(RankedBy::CallsPerSecond).curve(5).text(|s| speed(s, RankedBy::CallsPerSecond)),
    figure("calls_per_s_low", PerSecond, "Lower end of its interval, which is read as that of `ranked_per_s`", Cell(|c| low(c.estimate(RankedBy::CallsPerSecond)?))),
    figure("calls_per_s_high", PerSecond, "Upper end of it", Cell(|c| high(c.estimate(RankedBy::CallsPerSecond)?))),
    figure("raw_calls_per_s", PerSecond, "Calls that ended ok, a second, mean of the trials, as measured", Cell(|c| some(c.estimate(RankedBy::CallsPerSecond)?.raw))),
    figure("min_ns", Ns, "Shortest response time of an ok call, exact", Windows(|f| some(f.response.as_ref()?.min_ns))),
    figure("mean_ns", Ns, "Mean response time of ok calls, exact", Windows(|f| some(f.response.as_ref()?.mean_ns))),
    figure("stddev_ns", Ns, "Population standard deviation of the response times of ok calls", Windows(|f| some(f.response.as_ref()?.stddev_ns))),
    figure("p50_ns", Ns, "50th percentile of the response times of ok calls", Windows(|f| response(f, 0.5))).column("p50", Place::Figures).ranking(3).curve(0),
    figure("p75_ns", Ns, "75th percentile of the response times of ok calls", Windows(|f| response(f, 0.75))),
    figure("p90_ns", Ns, "90th percentile of the response times of ok calls", Windows(|f| response(f, 0.9))).column("p90", Place::Figures).wide().curve(4),
    figure("p95_ns", Ns, "95th percentile of the response times of ok calls", Windows(|f| response(f, 0.95))).column("p95", Place::Figures).wide(),
    figure("p99_ns", Ns, "99th percentile of the response times of ok calls", Windows(|f| response(f, 0.99))).column("p99", Place::Figures).ranking(1).curve(0),
    figure("p999_ns", Ns, "99.9th percentile of the response times of ok calls", Windows(|f| response(f, 0.999))).column("p99.9", Place::Figures).wide().curve(0),
    figure("max_ns", Ns, "Longest response time of an ok call, exact", Windows(|f| some(f.response.as_ref()?.max_ns))).column("max", Place::Figures).wide().curve(3),
    figure("connections_per_s", PerSecond, "Connections that came to be open, a second; empty where connections live long", Windows(|f| some(f.lives.as_ref()?.connections_per_s))).column("connections/s", Place::Figures).ranking(5).if_known(),
    figure("connect_mean_ns", Ns, "Mean connect time, exact", Windows(|f| some(f.lives.as_ref()?.connect.mean_ns))),
    figure("connect_p50_ns", Ns, "50th percentile of the connect times", Windows(|f| connect(f, 0.5))).column("connect p50", Place::Figures).ranking(2).if_known(),
    figure("connect_p99_ns", Ns, "99th percentile of the connect times", Windows(|f| connect(f, 0.99))).column("connect p99", Place::Figures).ranking(4).if_known(),
    figure("connect_max_ns", Ns, "Longest connect time, exact", Windows(|f| some(f.lives.as_ref()?.connect.max_ns))),
    figure("call_mean_ns", Ns, "Mean service time of ok calls, the connect left out, exact; empty where connections live long", Windows(|f| some(f.lives.as_ref()?.call.as_ref()?.mean_ns))),
    figure("call_p50_ns", Ns, "50th percentile of the service times of ok calls, the connect left out; empty as above", Windows(|f| call(f, 0.5))).column("call p50", Place::Figures).ranking(2).if_known(),
    figure("call_p99_ns", Ns, "99th percentile of the service times of ok calls, the connect left out; empty as above", Windows(|f| call(f, 0.99))).column("call p99", Place::Figures).ranking(4).if_known(),
    figure("calls", Count, "Calls that came due", Windows(|f| some(f.outcomes.total()))),
    figure(OutcomeKind::Ok.key(), Count, "Calls answered right", Windows(|f| some(f.outcomes.ok))),
    figure(OutcomeKind::WrongAnswer.key(), Count, "Calls answered with success, and wrong", Windows(|f| some(f.outcomes.wrong_answer))),
    figure(OutcomeKind::Status.key(), Count, "Calls that the protocol's own status ended", Windows(|f| some(f.outcomes.status.values().sum::<u64>()))),
    figure(OutcomeKind::Timeout.key(), Count, "Calls not answered in time", Windows(|f| some(f.outcomes.timeout))),
    figure(OutcomeKind::Transport.key(), Count, "Calls whose connection broke, or whose peer broke the protocol", Windows(|f| some(f.outcomes.transport))),
    figure(OutcomeKind::NotSent.key(), Count, "Calls that came due and never left the client", Windows(|f| some(f.outcomes.not_sent))),
    figure("error_share", Share, "Calls that did not end ok, of those that came due", Windows(|f| some(f.error_share()))).column("errors", Place::Figures).wide().curve(2).text(errors),
    figure("server_cpu_share", Share, "CPU time of the server, of what its limit allows", Windows(|f| some(f.server?.cpu_share))).column("server CPU", Place::Figures).wide().curve(6),
    figure("server_cpu_user_s", Unit::Seconds, "CPU time of the server in user mode, all trials together", Cell(|c| some(c.figures.as_ref()?.server?.cpu_user_s))),
    figure("server_cpu_system_s", Unit::Seconds, "CPU time of the server in the kernel, all trials together", Cell(|c| some(c.figures.as_ref()?.server?.cpu_system_s))),
    figure("server_cpu_user_ns", Ns, "CPU time of the server in user mode", Window(|w| some(w.measured.server.as_ref()?.cpu_user_ns))),
    figure("server_cpu_system_ns", Ns, "CPU time of the server in the kernel", Window(|w| some(w.measured.server.as_ref()?.cpu_system_ns))),
    figure("compiler_cpu_ns", Ns, "CPU time of the runtime's compiler threads, known by their names", Window(|w| some(w.measured.server.as_ref()?.compiler_cpu_ns))),
    figure("throttled_ns", Ns, "Time for which the kernel's CPU controller held the server back", Window(|w| some(w.measured.server.as_ref()?.throttled_ns?))),
    figure("memory_peak_bytes", Bytes, "Largest memory use of the server since it started, page cache apart; the largest of the trials", Windows(|f| some(f.server?.memory_peak_bytes))).column("memory", Place::Figures).ranking(2),
    figure("memory_anon_bytes", Bytes, "Anonymous and shared memory of the server at the window's end; mean of the trials", Windows(|f| some(f.server?.memory_anon_bytes))),
    figure("memory_cache_bytes", Bytes, "Page cache charged to the server at the window's end", Window(|w| some(w.measured.server.as_ref()?.memory_cache_bytes?))),
    figure("throttled_share", Share, "Time for which the kernel's CPU controller held the server back, of the time between readings", Windows(|f| some(f.server?.throttled_share?))),
    figure("switches_voluntary", Count, "Voluntary context switches of all the server's threads, ended ones included", Window(|w| some(w.measured.server.as_ref()?.switches_voluntary))),
    figure("switches_involuntary", Count, "Involuntary context switches of all the server's threads, ended ones included", Window(|w| some(w.measured.server.as_ref()?.switches_involuntary))),
    figure("server_threads", Count, "Threads of the server at the window's end", Window(|w| some(w.measured.server.as_ref()?.threads))),
    figure("gc_pauses", Count, "Pauses for garbage collection that ended in the window; empty where the runtime tells nothing, or was not asked (`--runtime-statistics`)", Windows(|f| some(f.runtime.as_ref()?.pauses.count))),
    figure("gc_pause_total_ns", Ns, "Sum of those pauses", Windows(|f| some(f.runtime.as_ref()?.pauses.total_ns))),
    figure("gc_pause_mean_ns", Ns, "Mean of those pauses; empty without any", Windows(gc_mean)),
    figure("gc_pause_max_ns", Ns, "The longest of those pauses", Windows(|f| some(f.runtime.as_ref()?.pauses.max_ns))).column("longest GC", Place::Figures).wide().if_known(),
    figure("gc_pause_share", Share, "Sum of those pauses, of the window; of several processes together it may be above 1", Windows(|f| some(f.runtime.as_ref()?.pause_share))).column("GC", Place::Figures).wide().if_known(),
    figure("gc_kinds", Word, "Those pauses by what the runtime calls them, such as generations: how many, sum, mean and longest", Windows(|f| some(f.runtime.as_ref()?.kinds()))),
    figure("allocated_bytes", Bytes, "Bytes that the server allocated in the window; empty where the runtime does not count them", Windows(|f| some(f.runtime.as_ref()?.allocated_bytes?))),
    figure("allocated_bytes_per_s", PerSecond, "Those bytes, a second", Windows(|f| some(f.runtime.as_ref()?.allocated_per_s?))),
    figure("allocated_per_call_bytes", Bytes, "Those bytes for each call that ended ok in the window", Windows(|f| some(f.runtime.as_ref()?.allocated_per_call_bytes?))).column("allocated/call", Place::Figures).wide().if_known(),
    figure("heap_peak_bytes", Bytes, "Largest heap of the server that was seen in the window, garbage included; the largest of the trials; empty where the runtime does not tell it", Windows(|f| some(f.runtime.as_ref()?.heap_peak_bytes?))).column("heap", Place::Figures).wide().if_known(),
    figure("client_threads", Count, "Load threads", Window(|w| some(w.measured.client.threads))),
    figure("client_cpu_share", Share, "CPU time of the load threads, of a CPU for each", Windows(|f| some(f.client.cpu_share))).column("client CPU", Place::Figures).wide().curve(7),
    figure("client_busiest_share", Share, "CPU time of the busiest load thread, of a CPU: its wait for a CPU included, its waits awake left out", Windows(|f| some(f.client.busiest_share))),
    figure("client_cpu_ns", Ns, "CPU time of the load threads", Window(|w| some(w.measured.client.cpu_ns))),
    figure("client_awake_ns", Ns, "CPU time that the load threads spent waiting awake for what is due within microseconds", Window(|w| some(w.measured.client.awake_ns))),
    figure("client_run_delay_ns", Ns, "Time for which load threads were ready to run and had no CPU", Window(|w| some(w.measured.client.run_delay_ns?))),
    figure("client_busiest_ns", Ns, "CPU time of the busiest load thread: its wait for a CPU included, its waits awake left out", Window(|w| some(w.measured.client.busiest_ns))),
    figure("steal_ns", Ns, "Time that the hypervisor took from the CPUs of client and server", Windows(|f| some(f.steal_ns))),
    figure("client_steal_ns", Ns, "Of it, from the client's CPUs", Window(|w| some(w.measured.machine.client_steal_ns))),
    figure("server_steal_ns", Ns, "From the server's CPUs; those that both use count in each", Window(|w| some(w.measured.machine.server_steal_ns?))),
    figure("rivals", Count, "Other runs of rpcbench that had some of the same CPUs when the window ended", Window(|w| some(w.measured.machine.rivals))),
    figure("cpu_pressure_ns", Ns, "Time for which some task of the machine waited for a CPU", Window(|w| some(w.measured.machine.cpu_pressure_ns?))),
    figure("connections_opened", Count, "Connections that came to be open in the window or while its last calls were awaited, where they live for a number of calls", Window(|w| some(w.connections()?.opened))),
    figure("connections_ended", Count, "Connections that ended in the window or while its last calls were awaited, closed by the peer or lost", Window(|w| some(w.connections()?.ended))),
    figure("connections_orderly", Count, "Those of them that the server ended in good order, with every call answered", Window(|w| some(w.connections()?.orderly))),
    figure("connections_reset", Count, "Those of them that the server reset", Window(|w| some(w.connections()?.reset))),
    figure("connections_retired", Count, "Connections that the client ended as planned, after the last call of their life", Window(|w| some(w.connections()?.retired))),
    figure("connects_failed", Count, "Attempts to open a connection that failed", Window(|w| some(w.connections()?.connect_failed))),
    figure("connects_refused", Count, "Those of them that the server refused", Window(|w| some(w.connections()?.connect_refused))),
    figure("connections_broken", Count, "Connections on which the server broke the protocol", Window(|w| some(w.connections()?.broken))),
    figure("connections_reopened", Count, "Times that a connection was opened in the place of another, or tried to be", Window(|w| some(w.connections()?.reopened))),
    figure("calls_refused", Count, "Calls that the server said it never looked at; one that is refused twice counts twice", Window(|w| some(w.connections()?.refused))),
    figure("calls_resent", Count, "Times that such a call was sent again, those refused before the window included", Window(|w| some(w.connections()?.resent))),
    figure("steady_after_ms", Milliseconds, "From the first load until the server was steady; mean of its processes", Cell(|c| some(c.steady_after_ms?))).column("steady", Place::Figures).wide().text(steady),
    figure("cold_calls_per_s", PerSecond, "Calls a second over the first second of load; mean of its processes", Cell(|c| some(c.cold_calls_per_s?))),
    figure("arrivals", Word, "When calls come due; of a trial with its rate in calls a second", Any(|s| some(arrivals(s)?))),
    figure("load_share", Share, "`offered_per_s` of `capacity_calls_per_s`", Cell(|c| some(c.offered_per_s? / c.capacity_per_s?))).column("load", Place::Load).curve(0),
    figure("offered_per_s", PerSecond, "Calls a second that came due by the schedule; mean of the trials", Cell(|c| some(c.offered_per_s?))).column("offered/s", Place::Load).curve(1),
    figure("capacity_calls_per_s", PerSecond, "Calls a second of the closed loop of which the load is a share", Cell(|c| some(c.capacity_per_s?))),
    figure("threshold", Word, "What must hold at the highest rate that is searched for", Any(|s| some(s.workload?.find_max?.to_string()))),
    figure("highest_per_s", PerSecond, "Highest rate at which the threshold held; mean of the processes", Cell(|c| some(c.highest_rate?.value))).column("highest calls/s", Place::Speed).ranking(0).ranks(RankedBy::HighestRate).text(|s| speed(s, RankedBy::HighestRate)),
    figure("highest_per_s_low", PerSecond, "Lower end of its interval, which is read as that of `ranked_per_s`", Cell(|c| low(c.highest_rate?))),
    figure("highest_per_s_high", PerSecond, "Upper end of that of the lowest rates at which the threshold did not hold", Cell(|c| high(c.highest_rate?))),
    figure("pacing_due", Count, "Calls that the schedule made due in the window", Window(|w| some(w.measured.pacing?.due))),
    figure("pacing_late", Count, "Those after whose due time the client did not look for more than 1 ms", Window(|w| some(w.measured.pacing?.late))),
    figure("pacing_held_back", Count, "Those that found no room on any connection when they came due", Window(|w| some(w.measured.pacing?.held_back))),
    figure("service_min_ns", Ns, "Shortest service time of an ok call, exact", Window(|w| some(w.service()?.min_ns))),
    figure("service_mean_ns", Ns, "Mean service time of ok calls, exact", Window(|w| some(w.service()?.mean_ns))),
    figure("service_stddev_ns", Ns, "Population standard deviation of the service times of ok calls", Window(|w| some(w.service()?.stddev_ns))),
    figure("service_p50_ns", Ns, "50th percentile of the service times of ok calls", Window(|w| some(w.service()?.p50_ns))),
    figure("service_p90_ns", Ns, "90th percentile of the service times of ok calls", Window(|w| some(w.service()?.p90_ns))),
    figure("service_p95_ns", Ns, "95th percentile of the service times of ok calls", Window(|w| some(w.service()?.p95_ns))),
    figure("service_p99_ns", Ns, "99th percentile of the service times of ok calls", Window(|w| some(w.service()?.p99_ns))),
    figure("service_p999_ns", Ns, "99.9th percentile of the service times of ok calls", Window(|w| some(w.service()?.p999_ns))),
    figure("service_max_ns", Ns, "Longest service time of an ok call, exact", Window(|w| some(w.service()?.max_ns))),
    figure("send_lag_min_ns", Ns, "Shortest send lag of an ok call, exact", Window(|w| some(w.send_lag()?.min_ns))),
    figure("send_lag_mean_ns", Ns, "Mean send lag of ok calls, exact", Window(|w| some(w.send_lag()?.mean_ns))),
    figure("send_lag_stddev_ns", Ns, "Population standard deviation of the send lags of ok calls", Window(|w| some(w.send_lag()?.stddev_ns))),
    figure("send_lag_p50_ns", Ns, "50th percentile of the send lags of ok calls", Window(|w| some(w.send_lag()?.p50_ns))),
    figure("send_lag_p90_ns", Ns, "90th percentile of the send lags of ok calls", Window(|w| some(w.send_lag()?.p90_ns))),
    figure("send_lag_p95_ns", Ns, "95th percentile of the send lags of ok calls", Window(|w| some(w.send_lag()?.p95_ns))),
    figure("send_lag_p99_ns", Ns, "99th percentile of the send lags of ok calls", Window(|w| some(w.send_lag()?.p99_ns))),
    figure("send_lag_p999_ns", Ns, "99.9th percentile of the send lags of ok calls", Window(|w| some(w.send_lag()?.p999_ns))),
    figure("send_lag_max_ns", Ns, "Longest send lag of an ok call, exact", Window(|w| some(w.send_lag()?.max_ns))),
    figure("all_calls_p50_ns", Ns, "50th percentile of response time over all calls; empty where it reaches into calls that did not end ok", Window(|w| all(w.all_calls.as_ref()?, 500_000))),
    figure("all_calls_p90_ns", Ns, "90th percentile of response time over all calls; empty as above", Window(|w| all(w.all_calls.as_ref()?, 900_000))),
    figure("all_calls_p95_ns", Ns, "95th percentile of response time over all calls; empty as above", Window(|w| all(w.all_calls.as_ref()?, 950_000))),
    figure("all_calls_p99_ns", Ns, "99th percentile of response time over all calls; empty as above", Window(|w| all(w.all_calls.as_ref()?, 990_000))),
    figure("all_calls_p999_ns", Ns, "99.9th percentile of response time over all calls; empty as above", Window(|w| all(w.all_calls.as_ref()?, 999_000))),
    figure("run_id", Word, "Identifies the run: a UUID that sorts by the time at which it began", Run(|h| some(h.id.to_string()))),
    figure("shape", Word, "What a call carries", Any(|s| some(&s.workload?.shape))),
    figure("connections", Count, "Connections over all load threads", Any(connections)),
    figure("connection_life", Word, "How many calls a connection carries before the client ends it", Any(|s| some(s.workload?.connection_life.to_string()))),
    figure("in_flight", Count, "Calls in flight over all connections; in an open loop the most", Any(|s| some(s.workload?.in_flight))),
    figure("cpus", Count, "CPUs that the server may use", Run(|h| some(h.plan.limits.cpus))),
    figure("memory_limit_bytes", Bytes, "Memory that the server may use", Run(|h| some(h.plan.limits.memory_bytes?))),
    figure("machine_cpu", Word, "Model of the machine's CPU", Run(|h| some(&h.machines.client.cpu.model))),
    figure("machine_kernel", Word, "Version of the machine's kernel", Run(|h| some(&h.machines.client.kernel))),
    figure("tool_version", Word, "Version of rpcbench", Run(|h| some(&h.tool.version))),
];

fn connect(figures: &Figures, q: f64) -> Option<Value> {
    some(figures.lives.as_ref()?.connect.quantile(q))
}

fn gc_mean(figures: &Figures) -> Option<Value> {
    let pauses = figures.runtime.as_ref()?.pauses;
    (pauses.count > 0).then(|| (pauses.total_ns as f64 / pauses.count as f64).into())
}

fn call(figures: &Figures, q: f64) -> Option<Value> {
    some(figures.lives.as_ref()?.call.as_ref()?.quantile(q))
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

/// The field of exports that entries are ranked by.
pub(crate) fn ranked_by(by: RankedBy) -> &'static str {
    match by {
        RankedBy::CallsPerCpuSecond => "calls_per_server_cpu_s",
        RankedBy::CallsPerSecond => "calls_per_s",
        RankedBy::HighestRate => "highest_per_s",
    }
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

/// `2`; `2-4` where its place is open.
fn place(subject: &Subject) -> Option<String> {
    let place = subject.cell?.place?;
    Some(match place.best == place.worst {
        true => place.best.to_string(),
        false => format!("{}-{}", place.best, place.worst),
    })
}

/// `98.2k ±1.6 %` of what entries are ranked by; else `98.2k`.
fn speed(subject: &Subject, by: RankedBy) -> Option<String> {
    let Some(row) = subject.cell else {
        return Some(format::si(subject.figures.as_deref()?.calls_per_s.value));
    };
    let estimate = row.estimate(by)?;
    Some(if by == row.by { estimate.rate() } else { format::si(estimate.value) })
}

/// A plain `0` where there are none.
fn errors(subject: &Subject) -> Option<String> {
    Some(match subject.figures.as_deref()?.error_share() {
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
