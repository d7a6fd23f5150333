"""Runs calls with a thread per slot, for libraries whose calls block."""

import collections
import queue
import threading
import time

from driver.control import Control
from driver.library import NOT_SENT, OK, WRONG_ANSWER, Client, Library, Outcome
from driver.load import Load, Run, Slot
from driver.wire import FLUSH_SECONDS, Wire


def run(library: Library) -> None:
    """Executes rpcbench's commands until it closes the socket or sends SIGTERM."""
    control = Control(library)
    control.loops = Threads(control)
    control.serve()


class Threads:
    def __init__(self, control: Control) -> None:
        self.control, self.wire, self.outcome = control, control.wire, control.library.outcome
        # Guards connections with a limit of calls, and the state of loops.
        self.lock = threading.Lock()

    def open(self, load: Load) -> None:
        clients = [connection.open() for connection in load.connections]
        for client in clients:
            client.wait_until_open()

    def close(self, load: Load) -> None:
        for connection in load.connections:
            if connection.client:
                connection.client.close()

    def start(self, run: Run) -> None:
        threading.Thread(target=self.make, args=(run,), daemon=True).start()

    def make(self, run: Run) -> None:
        """Makes the calls of a run."""
        ended = threading.Event()
        threading.Thread(target=flush, args=(self.wire, ended), daemon=True).start()
        loop = ClosedLoop(self, run) if run.schedule is None else OpenLoop(self, run)
        workers = [threading.Thread(target=loop.work, args=(slot,), daemon=True) for slot in run.slots]
        for worker in workers:
            worker.start()
        time.sleep(run.seconds_to_start())
        run.spin()
        loop.begin()
        for worker in workers:
            worker.join()
        ended.set()
        self.control.finish(loop.calls)

    def call(self, slot: Slot) -> Outcome:
        request = next(slot.turn)
        request.patch()
        connection = slot.connection
        if not connection.limit:
            return self.outcome_of(connection.take(), request)
        with self.lock:
            client = connection.take()
        outcome = self.outcome_of(client, request)
        with self.lock:
            is_last = connection.give(client)
        if is_last:
            client.close()
        return outcome

    def outcome_of(self, client: Client, request) -> Outcome:
        try:
            reply = client.call(request.message)
        except Exception as error:
            return self.outcome(error)
        return (OK, 0) if request.is_answered_by(reply) else (WRONG_ANSWER, 0)


def flush(wire: Wire, ended: threading.Event) -> None:
    while not ended.wait(FLUSH_SECONDS):
        wire.flush()


class ClosedLoop:
    def __init__(self, threads: Threads, run: Run) -> None:
        self.threads, self.run, self.calls = threads, run, 0
        self.begun = threading.Event()

    def begin(self) -> None:
        self.begun.set()

    def work(self, slot: Slot) -> None:
        """Makes the calls of a slot, one after another."""
        calls, call, record, may_start = 0, self.threads.call, self.threads.wire.record, self.run.may_start
        self.begun.wait()
        while may_start(start := time.monotonic_ns()):
            calls += 1
            outcome, status = call(slot)
            record(start, time.monotonic_ns(), slot.number, outcome, status)
        with self.threads.lock:
            self.calls += calls


# Index and due time of a call of the open loop.
Due = tuple[int, int]


class OpenLoop:
    """The thread that became idle last gets the next call, so that a low rate uses few slots and connections."""

    def __init__(self, threads: Threads, run: Run) -> None:
        self.threads, self.run, self.calls = threads, run, 0
        # One per slot; None ends its thread.
        self.inboxes: list[queue.SimpleQueue[Due | None]] = [queue.SimpleQueue() for _ in run.slots]
        self.idle = list(self.inboxes)
        # Calls that found no idle slot.
        self.waiting: collections.deque[Due] = collections.deque()
        self.in_flight = 0
        self.stopping = threading.Event()
        run.on_stop = self.stopping.set

    def begin(self) -> None:
        """Starts each call when it is due."""
        for index, offset in enumerate(self.run.schedule or ()):
            due = self.run.at + offset
            if not self.wait_until(due):
                break
            self.calls += 1
            if not self.hand_over((index, due)):
                self.threads.wire.record(due, time.monotonic_ns(), index, NOT_SENT, 0)
        for inbox in self.inboxes:
            inbox.put(None)

    def hand_over(self, call: Due) -> bool:
        """Hands a call to a slot, or lets it wait for one. Returns False if too many are in flight."""
        with self.threads.lock:
            if self.in_flight >= self.run.in_flight_max:
                return False
            self.in_flight += 1
            if self.idle:
                self.idle.pop().put(call)
            else:
                self.waiting.append(call)
        return True

    def wait_until(self, due: int) -> bool:
        """Waits for a due time. Returns False if the run stops before it."""
        while self.run.is_due(due):
            rest = (due - time.monotonic_ns()) / 1e9
            if rest <= 0:
                return True
            if self.stopping.is_set():
                time.sleep(rest)
            else:
                self.stopping.wait(rest)
        return False

    def work(self, slot: Slot) -> None:
        inbox = self.inboxes[slot.number]
        call = inbox.get()
        while call is not None:
            index, due = call
            outcome, status = self.threads.call(slot)
            self.threads.wire.record(due, time.monotonic_ns(), index, outcome, status)
            call = self.next(inbox) or inbox.get()

    def next(self, inbox: queue.SimpleQueue[Due | None]) -> Due | None:
        """Ends a slot's call, and returns one that waits. None if no call waits: the slot is idle."""
        with self.threads.lock:
            self.in_flight -= 1
            if self.waiting:
                return self.waiting.popleft()
            self.idle.append(inbox)
        return None
