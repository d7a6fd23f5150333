package dev.rpcbench.client;

import java.util.function.Consumer;

/** Makes calls one at a time, all on one connection or pool. */
final class Slot<C> implements Consumer<Outcome> {
  final int number;
  private final Connection<C> connection;
  private final Method.Caller<C> caller;
  private Connection.Line<C> line;
  private Consumer<Outcome> done;

  Slot(int number, Connection<C> connection, Method.Caller<C> caller) {
    this.number = number;
    this.connection = connection;
    this.caller = caller;
  }

  void call(Consumer<Outcome> done) {
    this.done = done;
    line = connection.take();
    caller.call(line.client, this);
  }

  @Override
  public void accept(Outcome outcome) {
    connection.give(line);
    done.accept(outcome);
  }
}
