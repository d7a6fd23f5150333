import dev.rpcbench.client.Driver;
import dev.rpcbench.client.Library;
import dev.rpcbench.client.Method;
import dev.rpcbench.client.Outcome;
import dev.rpcbench.v1.DtoReply;
import dev.rpcbench.v1.DtoRequest;
import dev.rpcbench.v1.EchoGrpc;
import dev.rpcbench.v1.EchoGrpc.EchoBlockingStub;
import dev.rpcbench.v1.EchoGrpc.EchoStub;
import dev.rpcbench.v1.RecordReply;
import dev.rpcbench.v1.RecordRequest;
import dev.rpcbench.v1.TextReply;
import dev.rpcbench.v1.TextRequest;
import dev.rpcbench.v1.TreeReply;
import dev.rpcbench.v1.TreeRequest;
import io.grpc.ConnectivityState;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;

/** Calls the contract's service with grpc-java: -Dcalls=async or -Dcalls=blocking. */
public final class Client {
  private static final long OPEN_SECONDS = 10;

  // Callbacks run on a bounded pool instead of one that grows with the calls, as in the server.
  private static final ForkJoinPool callbacks =
      new ForkJoinPool(
          Runtime.getRuntime().availableProcessors(),
          ForkJoinPool.defaultForkJoinWorkerThreadFactory,
          null,
          true);

  /** A channel has one connection. */
  private record Channel(
      ManagedChannel channel, EchoStub async, EchoBlockingStub blocking, long timeoutNanos) {
    EchoStub asyncCall() {
      return async.withDeadlineAfter(timeoutNanos, TimeUnit.NANOSECONDS);
    }

    EchoBlockingStub blockingCall() {
      return blocking.withDeadlineAfter(timeoutNanos, TimeUnit.NANOSECONDS);
    }
  }

  private static final class Connector implements Library.Connector<Channel> {
    // The library's defaults, without retries.
    @Override
    public Channel connect(Library.Target target) {
      var channel =
          Grpc.newChannelBuilder(target.address(), InsecureChannelCredentials.create())
              .executor(callbacks)
              .disableRetry()
              .build();
      channel.getState(true);
      return new Channel(
          channel,
          EchoGrpc.newStub(channel),
          EchoGrpc.newBlockingStub(channel),
          target.timeoutNanos());
    }

    @Override
    public void await(Channel connection) throws IOException, InterruptedException {
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
    public void close(Channel connection) {
      connection.channel.shutdown();
    }
  }

  private interface AsyncCall<Q, R> {
    void start(EchoStub stub, Q request, StreamObserver<R> observer);
  }

  private interface BlockingCall<Q, R> {
    R call(EchoBlockingStub stub, Q request);
  }

  private record Observer<R>(Library.Ended<R> ended) implements StreamObserver<R> {
    @Override
    public void onNext(R reply) {
      ended.reply(reply);
    }

    @Override
    public void onError(Throwable error) {
      ended.error(error);
    }

    @Override
    public void onCompleted() {}
  }

  private static final boolean BLOCKING = "blocking".equals(System.getProperty("calls"));

  private static <Q, R> Library.Exchange<Channel, Q, R> exchange(
      AsyncCall<Q, R> async, BlockingCall<Q, R> blocking) {
    if (BLOCKING) {
      Library.Blocking<Channel, Q, R> call =
          (channel, request) -> blocking.call(channel.blockingCall(), request);
      return call.exchange();
    }
    return (channel, request, ended) ->
        async.start(channel.asyncCall(), request, new Observer<>(ended));
  }

  // What the library says of resets and of replies without a valid status.
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

  private static final Method<Channel, TextRequest, TextReply> TEXT =
      new Method<>(
          TextRequest::parseFrom,
          TextRequest::getText,
          (request, text) -> request.toBuilder().setText(text).build(),
          TextReply::getEcho,
          (request, reply) -> true,
          exchange(EchoStub::text, EchoBlockingStub::text));

  private static final Method<Channel, RecordRequest, RecordReply> RECORD =
      new Method<>(
          RecordRequest::parseFrom,
          request -> request.getRecord().getField1(),
          (request, text) ->
              request.toBuilder()
                  .setRecord(request.getRecord().toBuilder().setField1(text))
                  .build(),
          reply -> reply.getEcho().getField1(),
          (request, reply) -> request.getRecord().equals(reply.getEcho()),
          exchange(EchoStub::record, EchoBlockingStub::record));

  private static final Method<Channel, DtoRequest, DtoReply> DTO =
      new Method<>(
          DtoRequest::parseFrom,
          request -> request.getDto().getProp1(),
          (request, text) ->
              request.toBuilder().setDto(request.getDto().toBuilder().setProp1(text)).build(),
          reply -> reply.getEcho().getProp1(),
          (request, reply) -> request.getDto().equals(reply.getEcho()),
          exchange(EchoStub::dto, EchoBlockingStub::dto));

  private static final Method<Channel, TreeRequest, TreeReply> TREE =
      new Method<>(
          TreeRequest::parseFrom,
          request -> request.getTree().getName(),
          (request, text) ->
              request.toBuilder().setTree(request.getTree().toBuilder().setName(text)).build(),
          reply -> reply.getEcho().getName(),
          (request, reply) -> request.getTree().equals(reply.getEcho()),
          exchange(EchoStub::tree, EchoBlockingStub::tree));

  public static void main(String[] args) throws IOException {
    Driver.run(
        new Library<>(
            "grpc-java",
            version(),
            Library.Connections.MULTIPLEXED,
            BLOCKING,
            new Connector(),
            Client::outcome,
            Map.of("text", TEXT, "record", RECORD, "dto", DTO, "tree", TREE)));
  }

  private static String version() {
    var version = ManagedChannel.class.getPackage().getImplementationVersion();
    return version == null ? "unknown" : version;
  }

  private Client() {}
}
