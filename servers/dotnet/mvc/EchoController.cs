using Microsoft.AspNetCore.Mvc;

namespace Rpcbench;

[ApiController]
[Route("rpcbench.v1.Echo")]
public class EchoController : ControllerBase
{
    [HttpPost("Text")]
    public TextReply Text(TextRequest request) => new(request.Text);

    [HttpPost("Record")]
    public RecordReply Record(RecordRequest request) => new(request.Record);

    [HttpPost("Dto")]
    public DtoReply Dto(DtoRequest request) => new(request.Dto);

    [HttpPost("Tree")]
    public TreeReply Tree(TreeRequest request) => new(request.Tree);
}
