"""Runs calls on asyncio's event loop, with a task per slot or per call. A thread reads the messages, so the loop does not delay them."""

import asyncio
import threading
import time

from driver.control import Control
from driver.library import NOT_SENT, OK, WRONG_ANSWER, Client, Library, Outcome
from driver.load import Load, Run, Slot
from driver.wire import FLUSH_SECONDS


def run(library: Library) -> None:
    """Executes rpcbench's commands until it closes the socket or sends SIGTERM."""
    asyncio.run(serve(Control(library)))


async def serve(control: Control) -> None:
    control.loops = Aio(control, asyncio.get_running_loop())
    threading.Thread(target=control.serve, daemon=True).start()
    await asyncio.Event().wait()


class Aio:
    def __init__(self, control: Control, loop: asyncio.AbstractEventLoop) -> None:
        self.control, self.wire, self.outcome, self.loop = control, control.wire, control.library.outcome, loop
        self.tasks: set[asyncio.Task] = set()

    # Called in the thread that reads the messages.
    def open(self, load: Load) -> None:
        asyncio.run_coroutine_threadsafe(self.connect(load), self.loop).result()

    def start(self, run: Run) -> None:
        asyncio.run_coroutine_threadsafe(self.make(run), self.loop)

    def close(self, load: Load) -> None:
        asyncio.run_coroutine_threadsafe(self.disconnect(load), self.loop).result()

    # The rest runs in the event loop.
    async def connect(self, load: Load) -> None:
        await asyncio.gather(*(connection.open().wait_until_open() for connection in load.connections))

    async def disconnect(self, load: Load) -> None:
        for connection in load.connections:
            if connection.client:
                await connection.client.close()

    def spawn(self, coroutine) -> None:
        """Runs a coroutine in a task, and keeps a reference to it, which the loop does not."""
        task = self.loop.create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def make(self, run: Run) -> None:
        """Makes the calls of a run."""
        flusher = self.loop.create_task(self.flush())
        await asyncio.sleep(run.seconds_to_start())
        run.spin()
        if run.schedule is None:
            calls = sum(await asyncio.gather(*(self.repeat(run, slot) for slot in run.slots)))
        else:
            calls = await OpenLoop(self, run).dispatch()
        flusher.cancel()
        self.control.finish(calls)

    async def flush(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            self.wire.flush()

    async def repeat(self, run: Run, slot: Slot) -> int:
        """Makes the calls of a slot, one after another. Returns their number."""
        calls, record = 0, self.wire.record
        while run.may_start(start := time.monotonic_ns()):
            calls += 1
            outcome, status = await self.call(slot)
            record(start, time.monotonic_ns(), slot.number, outcome, status)
        return calls

    async def call(self, slot: Slot) -> Outcome:
        request = next(slot.turn)
        request.patch()
        connection = slot.connection
        client = connection.take()
        outcome = await self.outcome_of(client, request)
        if connection.limit and connection.give(client):
            self.spawn(client.close())
        return outcome

    async def outcome_of(self, client: Client, request) -> Outcome:
        try:
            reply = await client.call(request.message)
        except Exception as error:
            return self.outcome(error)
        return (OK, 0) if request.is_answered_by(reply) else (WRONG_ANSWER, 0)


class OpenLoop:
    def __init__(self, aio: Aio, run: Run) -> None:
        self.aio, self.run = aio, run
        self.idle = list(run.slots)
        self.drained = asyncio.Event()
        self.stopping = asyncio.Event()
        run.on_stop = lambda: aio.loop.call_soon_threadsafe(self.stopping.set)

    async def dispatch(self) -> int:
        """Starts each call when it is due. Returns their number when the last one has ended."""
        calls = 0
        for index, offset in enumerate(self.run.schedule or ()):
            due = self.run.at + offset
            if not await self.wait_until(due):
                break
            calls += 1
            if self.idle:
                self.aio.spawn(self.make_call(self.idle.pop(), index, due))
            else:
                self.aio.wire.record(due, time.monotonic_ns(), index, NOT_SENT, 0)
        while len(self.idle) < len(self.run.slots):
            self.drained.clear()
            await self.drained.wait()
        return calls

    async def wait_until(self, due: int) -> bool:
        """Waits for a due time. Returns False if the run stops before it."""
        while self.run.is_due(due):
            rest = (due - time.monotonic_ns()) / 1e9
            if rest <= 0:
                return True
            # A long sleep ends when the instant to stop at becomes known.
            if rest < 1 or self.stopping.is_set():
                await asyncio.sleep(rest)
                continue
            try:
                await asyncio.wait_for(self.stopping.wait(), rest)
            except asyncio.TimeoutError:
                pass
        return False

    async def make_call(self, slot: Slot, index: int, due: int) -> None:
        outcome, status = await self.aio.call(slot)
        self.aio.wire.record(due, time.monotonic_ns(), index, outcome, status)
        self.idle.append(slot)
        self.drained.set()
