using Rpcbench.V1;

namespace Rpcbench;

internal sealed class EchoHandler : Echo.IAsync
{
    public Task<TextReply> Text(TextRequest? request, CancellationToken cancellationToken) =>
        Task.FromResult(new TextReply { Echo = request!.Text });

    public Task<RecordReply> Record(RecordRequest? request, CancellationToken cancellationToken) =>
        Task.FromResult(new RecordReply { Echo = request!.Record });

    public Task<DtoReply> Dto(DtoRequest? request, CancellationToken cancellationToken) =>
        Task.FromResult(new DtoReply { Echo = request!.Dto });

    public Task<TreeReply> Tree(TreeRequest? request, CancellationToken cancellationToken) =>
        Task.FromResult(new TreeReply { Echo = request!.Tree });
}
