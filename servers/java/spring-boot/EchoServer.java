package dev.rpcbench.spring;

import dev.rpcbench.json.Messages.DtoReply;
import dev.rpcbench.json.Messages.DtoRequest;
import dev.rpcbench.json.Messages.RecordReply;
import dev.rpcbench.json.Messages.RecordRequest;
import dev.rpcbench.json.Messages.TextReply;
import dev.rpcbench.json.Messages.TextRequest;
import dev.rpcbench.json.Messages.TreeReply;
import dev.rpcbench.json.Messages.TreeRequest;
import dev.rpcbench.json.Strict;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.jackson.autoconfigure.JsonMapperBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The contract's service as JSON on Spring Boot. The launcher has checked the settings in the environment. */
@SpringBootApplication
public class EchoServer {
  @RestController
  @RequestMapping("/rpcbench.v1.Echo")
  static class Echo {
    @PostMapping("/Text")
    TextReply text(@RequestBody TextRequest request) {
      return new TextReply(request.text());
    }

    @PostMapping("/Record")
    RecordReply record(@RequestBody RecordRequest request) {
      return new RecordReply(request.record());
    }

    @PostMapping("/Dto")
    DtoReply dto(@RequestBody DtoRequest request) {
      return new DtoReply(request.dto());
    }

    @PostMapping("/Tree")
    TreeReply tree(@RequestBody TreeRequest request) {
      return new TreeReply(request.tree());
    }
  }

  @Bean
  JsonMapperBuilderCustomizer strict() {
    return Strict::strict;
  }

  public static void main(String[] args) {
    var application = new SpringApplication(EchoServer.class);
    var certificate = System.getenv("RPCBENCH_TLS_CERT");
    if (certificate != null) {
      // TLS by the JDK, Tomcat's default.
      application.setDefaultProperties(
          Map.of(
              "server.ssl.certificate",
              certificate,
              "server.ssl.certificate-private-key",
              System.getenv("RPCBENCH_TLS_KEY")));
    }
    application.run(args);
  }
}
