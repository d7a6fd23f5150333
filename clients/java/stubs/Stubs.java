package dev.rpcbench.client.grpc;

import dev.rpcbench.client.Library;
import dev.rpcbench.client.Method;
import dev.rpcbench.client.Outcome;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.AbstractStub;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Describes libraries whose stubs use grpc-java's channels. */
public final class Stubs {
  /** Describes a library. Its version is that of the jar that has the class {@code versioned}. */
  public static <S extends AbstractStub<S>> Library<Channel<S>> library(
      String name,
      Class<?> versioned,
      boolean blocking,
      Function<ManagedChannel, S> stub,
      Map<String, Method<Channel<S>, ?, ?>> methods) {
    return new Library<>(
        name,
        version(versioned),
        Library.Connections.MULTIPLEXED,
        blocking,
        new Channel.Connector<>(stub),
        Stubs::outcome,
        methods);
  }

  /** Read from the file's name, since not every jar's manifest has the version. */
  private static String version(Class<?> versioned) {
    var jar = versioned.getProtectionDomain().getCodeSource().getLocation().getPath();
    return jar.replaceFirst(".*-(\\d[^/]*)\\.jar", "$1");
  }

  // How the library's descriptions of resets and of replies without a valid status begin.
  private static final List<String> BROKEN_PROTOCOL =
      List.of(
          "RST_STREAM closed stream",
          "Received unexpected EOS",
          "HTTP status code",
          "missing GRPC status");

  /** UNAVAILABLE may be the library's or the server's. Only statuses of the library have causes. */
  private static Outcome outcome(Throwable error) {
    var status = Status.fromThrowable(error);
    var description = status.getDescription() == null ? "" : status.getDescription();
    if (status.getCode() == Status.Code.DEADLINE_EXCEEDED) {
      return Outcome.TIMEOUT;
    }
    if (description.startsWith("Invalid protobuf byte sequence")
        || description.startsWith("Failed to read message")) {
      return Outcome.WRONG_ANSWER;
    }
    if (status.getCode() == Status.Code.UNAVAILABLE
        || status.getCause() != null
        || BROKEN_PROTOCOL.stream().anyMatch(description::startsWith)) {
      return Outcome.TRANSPORT;
    }
    return Outcome.status(status.getCode().value());
  }

  private Stubs() {}
}
