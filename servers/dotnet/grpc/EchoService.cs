using Grpc.Core;
using Rpcbench.V1;

namespace Rpcbench;

internal sealed class EchoService : Echo.EchoBase
{
    public override Task<TextReply> Text(TextRequest request, ServerCallContext context) =>
        Task.FromResult(new TextReply { Echo = request.Text });

    public override Task<RecordReply> Record(RecordRequest request, ServerCallContext context) =>
        Task.FromResult(new RecordReply { Echo = request.Record });

    public override Task<DtoReply> Dto(DtoRequest request, ServerCallContext context) =>
        Task.FromResult(new DtoReply { Echo = request.Dto });

    public override Task<TreeReply> Tree(TreeRequest request, ServerCallContext context) =>
        Task.FromResult(new TreeReply { Echo = request.Tree });
}
