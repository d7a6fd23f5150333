package dev.rpcbench.quarkus;

import dev.rpcbench.json.Messages.DtoReply;
import dev.rpcbench.json.Messages.DtoRequest;
import dev.rpcbench.json.Messages.RecordReply;
import dev.rpcbench.json.Messages.RecordRequest;
import dev.rpcbench.json.Messages.TextReply;
import dev.rpcbench.json.Messages.TextRequest;
import dev.rpcbench.json.Messages.TreeReply;
import dev.rpcbench.json.Messages.TreeRequest;
import io.smallrye.common.annotation.NonBlocking;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;

/** The contract's service as JSON. Like the gRPC service, methods run on the event loop. */
@Path("/rpcbench.v1.Echo")
@NonBlocking
public class EchoResource {
  @POST
  @Path("/Text")
  public TextReply text(TextRequest request) {
    return new TextReply(request.text());
  }

  @POST
  @Path("/Record")
  public RecordReply record(RecordRequest request) {
    return new RecordReply(request.record());
  }

  @POST
  @Path("/Dto")
  public DtoReply dto(DtoRequest request) {
    return new DtoReply(request.dto());
  }

  @POST
  @Path("/Tree")
  public TreeReply tree(TreeRequest request) {
    return new TreeReply(request.tree());
  }
}
