import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.ChannelzService;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import java.net.InetSocketAddress;

/** The services that come with grpc-java: health, reflection, and Channelz, which counts calls. Argument: the port. */
final class GrpcJava {
  private GrpcJava() {}

  public static void main(String[] arguments) throws Exception {
    var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0]));
    NettyServerBuilder.forAddress(address)
        .addService(new HealthStatusManager().getHealthService())
        .addService(ProtoReflectionServiceV1.newInstance())
        .addService(ChannelzService.newInstance(10))
        .build()
        .start()
        .awaitTermination();
  }
}
