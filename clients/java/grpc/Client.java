import dev.rpcbench.client.Driver;
import dev.rpcbench.client.Library;
import dev.rpcbench.client.Method;
import dev.rpcbench.client.grpc.Channel;
import dev.rpcbench.client.grpc.Methods;
import dev.rpcbench.client.grpc.Stubs;
import dev.rpcbench.v1.EchoGrpc;
import dev.rpcbench.v1.EchoGrpc.EchoBlockingStub;
import dev.rpcbench.v1.EchoGrpc.EchoStub;
import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.Map;

/** Calls the contract's service with grpc-java: -Dcalls=async or -Dcalls=blocking. */
public final class Client {
  private static final String NAME = "grpc-java";

  private interface AsyncCall<Q, R> {
    void start(EchoStub stub, Q request, StreamObserver<R> observer);
  }

  private interface BlockingCall<Q, R> {
    R call(EchoBlockingStub stub, Q request);
  }

  private record Observer<R>(Library.Callback<R> done) implements StreamObserver<R> {
    @Override
    public void onNext(R reply) {
      done.reply(reply);
    }

    @Override
    public void onError(Throwable error) {
      done.error(error);
    }

    @Override
    public void onCompleted() {}
  }

  private static <Q, R> Library.Exchange<Channel<EchoStub>, Q, R> async(AsyncCall<Q, R> call) {
    return (channel, request, done) -> call.start(channel.call(), request, new Observer<>(done));
  }

  private static <Q, R> Library.Exchange<Channel<EchoBlockingStub>, Q, R> blocking(
      BlockingCall<Q, R> call) {
    Library.Blocking<Channel<EchoBlockingStub>, Q, R> blocking =
        (channel, request) -> call.call(channel.call(), request);
    return blocking.exchange();
  }

  private static final Map<String, Method<Channel<EchoStub>, ?, ?>> ASYNC =
      Methods.of(
          async(EchoStub::text),
          async(EchoStub::record),
          async(EchoStub::dto),
          async(EchoStub::tree));

  private static final Map<String, Method<Channel<EchoBlockingStub>, ?, ?>> BLOCKING =
      Methods.of(
          blocking(EchoBlockingStub::text),
          blocking(EchoBlockingStub::record),
          blocking(EchoBlockingStub::dto),
          blocking(EchoBlockingStub::tree));

  public static void main(String[] args) throws IOException {
    if ("blocking".equals(System.getProperty("calls"))) {
      Driver.run(
          Stubs.library(NAME, ManagedChannel.class, true, EchoGrpc::newBlockingStub, BLOCKING));
    } else {
      Driver.run(Stubs.library(NAME, ManagedChannel.class, false, EchoGrpc::newStub, ASYNC));
    }
  }

  private Client() {}
}
