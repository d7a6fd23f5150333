package dev.rpcbench.client;

import dev.rpcbench.client.Library.Connections;
import dev.rpcbench.client.Library.Target;

/** A connection, or a pool. Opens another line after a number of calls. */
final class Connection<C> {
  private final Library<C> library;
  private final Target target;
  private final int limit;
  private Line<C> current;

  /** An open connection. */
  static final class Line<C> {
    final C client;
    private int calls;
    private int inFlight;

    Line(C client) {
      this.client = client;
    }
  }

  Connection(Library<C> library, Target target) {
    this.library = library;
    this.target = target;
    boolean isPool = library.connections() == Connections.POOLED;
    this.limit = isPool ? 0 : target.callsPerConnection();
  }

  synchronized C open() {
    current = new Line<>(library.connector().connect(target));
    return current.client;
  }

  /** Returns the line for the next call, and opens one if needed. */
  synchronized Line<C> take() {
    if (current == null) {
      open();
    }
    var line = current;
    line.calls++;
    line.inFlight++;
    if (line.calls == limit) {
      current = null;
    }
    return line;
  }

  /** Ends a call. A line that gets no more calls is closed after its last one. */
  synchronized void give(Line<C> line) {
    line.inFlight--;
    if (line != current && line.inFlight == 0) {
      library.connector().close(line.client);
    }
  }

  synchronized void close() {
    if (current != null) {
      library.connector().close(current.client);
      current = null;
    }
  }
}
