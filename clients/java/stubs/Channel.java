package dev.rpcbench.client.grpc;

import dev.rpcbench.client.Library;
import io.grpc.ConnectivityState;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.stub.AbstractStub;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** A channel of grpc-java, which has one connection. */
public record Channel<S extends AbstractStub<S>>(
    ManagedChannel channel, S stub, long timeoutNanos) {
  private static final long OPEN_SECONDS = 10;

  // Callbacks run on a bounded pool, as in the server. The default pool grows with the calls.
  private static final ForkJoinPool callbacks =
      new ForkJoinPool(
          Runtime.getRuntime().availableProcessors(),
          ForkJoinPool.defaultForkJoinWorkerThreadFactory,
          null,
          true);

  /** Returns the stub for one call, with its deadline. */
  public S call() {
    return stub.withDeadlineAfter(timeoutNanos, TimeUnit.NANOSECONDS);
  }

  /** Opens channels with the library's defaults, without retries. */
  record Connector<S extends AbstractStub<S>>(Function<ManagedChannel, S> stubs)
      implements Library.Connector<Channel<S>> {
    @Override
    public Channel<S> connect(Library.Target target) {
      var channel =
          Grpc.newChannelBuilder(target.address(), InsecureChannelCredentials.create())
              .executor(callbacks)
              .disableRetry()
              .build();
      channel.getState(true);
      return new Channel<>(channel, stubs.apply(channel), target.timeoutNanos());
    }

    @Override
    public void await(Channel<S> connection) throws IOException, InterruptedException {
      var channel = connection.channel;
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(OPEN_SECONDS);
      while (true) {
        var state = channel.getState(true);
        if (state == ConnectivityState.READY) {
          return;
        }
        var changed = new CountDownLatch(1);
        channel.notifyWhenStateChanged(state, changed::countDown);
        boolean inTime = changed.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        if (!inTime || state == ConnectivityState.TRANSIENT_FAILURE) {
          throw new IOException("can't connect to " + channel.authority() + ": " + state);
        }
      }
    }

    @Override
    public void close(Channel<S> connection) {
      connection.channel.shutdown();
    }
  }
}
