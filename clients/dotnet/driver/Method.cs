namespace Rpcbench;

/// <summary>A method of the contract.</summary>
internal interface IMethod<TClient>
{
    /// <summary>Returns a caller, which makes calls one at a time, with these requests in turn.</summary>
    ICaller<TClient> Caller(IEnumerable<byte[]> encoded, Func<Exception, Outcome> outcome);
}

internal interface ICaller<TClient>
{
    ValueTask<Outcome> Call(TClient client);
}

/// <summary>A method with the types of a library.</summary>
internal sealed class Method<TClient, TRequest, TReply> : IMethod<TClient>
{
    public required Func<byte[], TRequest> Decode { get; init; }

    /// <summary>The field with the nonce.</summary>
    public required Func<TRequest, string> Text { get; init; }

    /// <summary>Returns the request with another text: the same object if it is mutable.</summary>
    public required Func<TRequest, string, TRequest> Patch { get; init; }

    /// <summary>The field with the nonce; null if the reply has no content.</summary>
    public required Func<TReply, string?> Echo { get; init; }

    /// <summary>Compares whole messages.</summary>
    public Func<TRequest, TReply, bool> Equal { get; init; } = (_, _) => true;

    public required Func<TClient, TRequest, Task<TReply>> Call { get; init; }

    public ICaller<TClient> Caller(IEnumerable<byte[]> encoded, Func<Exception, Outcome> outcome) =>
        new SlotCaller<TClient, TRequest, TReply>(this, encoded.Select(Decode).ToArray(), outcome);
}

internal static class Nonces
{
    public const int Digits = 8;

    /// <summary>Whole messages are compared on every 16th call.</summary>
    public const long WholeEvery = 16;

    private static long last;

    public static long Next() => Interlocked.Increment(ref last);

    /// <summary>Replaces the first characters of a text with a nonce; a short text gets the last digits that fit.</summary>
    public static string Write(long nonce, string text) =>
        string.Create(text.Length, (nonce, text), static (result, state) =>
        {
            state.text.CopyTo(result);
            var rest = state.nonce;
            for (var i = Math.Min(Digits, result.Length) - 1; i >= 0; i--)
            {
                result[i] = (char)('0' + rest % 10);
                rest /= 10;
            }
        });
}

internal sealed class SlotCaller<TClient, TRequest, TReply>(
    Method<TClient, TRequest, TReply> method, TRequest[] requests, Func<Exception, Outcome> outcome) : ICaller<TClient>
{
    private int next;

    public async ValueTask<Outcome> Call(TClient client)
    {
        var template = requests[next];
        next = (next + 1) % requests.Length;
        var nonce = Nonces.Next();
        var text = Nonces.Write(nonce, method.Text(template));
        var request = method.Patch(template, text);
        TReply reply;
        try
        {
            reply = await method.Call(client, request).ConfigureAwait(false);
        }
        catch (Exception error)
        {
            return outcome(error);
        }
        var isCorrect = method.Echo(reply) == text && (nonce % Nonces.WholeEvery != 0 || method.Equal(request, reply));
        return isCorrect ? Outcome.Ok : Outcome.WrongAnswer;
    }
}
