package dev.rpcbench.client;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A method of the contract with the types of a library.
 *
 * @param text the field with the nonce
 * @param patch returns a request with another text
 * @param echo the field with the nonce in a reply; null if that has no content
 * @param equal compares whole messages
 */
public record Method<C, Q, R>(
    Decoder<Q> decoder,
    Function<Q, String> text,
    BiFunction<Q, String, Q> patch,
    Function<R, String> echo,
    BiPredicate<Q, R> equal,
    Library.Exchange<C, Q, R> exchange) {

  private static final int NONCE_DIGITS = 8;
  // Whole messages are compared on every 16th call.
  private static final int WHOLE_EVERY = 16;

  private static final AtomicLong nonces = new AtomicLong();

  /** Decodes a request. */
  public interface Decoder<Q> {
    Q decode(byte[] encoded) throws Exception;
  }

  /** Returns the caller of one slot: one call at a time, with its requests in turn. */
  Caller<C> caller(List<byte[]> encoded, Library.Outcomes outcomes) throws Exception {
    var requests = new ArrayList<Q>(encoded.size());
    for (var request : encoded) {
      requests.add(decoder.decode(request));
    }
    return new SlotCaller<>(this, requests, outcomes);
  }

  interface Caller<C> {
    void call(C connection, Consumer<Outcome> done);
  }

  private static final class SlotCaller<C, Q, R> implements Caller<C>, Library.Callback<R> {
    private final Method<C, Q, R> method;
    private final List<Q> requests;
    private final Library.Outcomes outcomes;
    private final byte[] digits = new byte[NONCE_DIGITS];
    private int next;
    private long nonce;
    private Q request;
    private String text;
    private Consumer<Outcome> done;

    SlotCaller(Method<C, Q, R> method, List<Q> requests, Library.Outcomes outcomes) {
      this.method = method;
      this.requests = requests;
      this.outcomes = outcomes;
    }

    @Override
    public void call(C connection, Consumer<Outcome> done) {
      var template = requests.get(next);
      next = (next + 1) % requests.size();
      nonce = nonces.incrementAndGet();
      text = patched(method.text.apply(template));
      request = method.patch.apply(template, text);
      this.done = done;
      method.exchange.start(connection, request, this);
    }

    /** Replaces the start of a text with the nonce; a short text gets the last digits that fit. */
    private String patched(String text) {
      long rest = nonce;
      for (int i = NONCE_DIGITS - 1; i >= 0; i--) {
        digits[i] = (byte) ('0' + rest % 10);
        rest /= 10;
      }
      int length = Math.min(NONCE_DIGITS, text.length());
      var number = new String(digits, NONCE_DIGITS - length, length, StandardCharsets.ISO_8859_1);
      return number.concat(text.substring(length));
    }

    @Override
    public void reply(R reply) {
      boolean isCorrect =
          reply != null
              && text.equals(method.echo.apply(reply))
              && (nonce % WHOLE_EVERY != 0 || method.equal.test(request, reply));
      done.accept(isCorrect ? Outcome.OK : Outcome.WRONG_ANSWER);
    }

    @Override
    public void error(Throwable error) {
      done.accept(outcomes.of(error));
    }
  }
}
