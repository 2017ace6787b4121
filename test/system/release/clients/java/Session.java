// The session of the client that openapi-generator makes in Java.
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.JSON;
import org.openapitools.client.api.TransactionsApi;
import org.openapitools.client.model.Error;
import org.openapitools.client.model.NewPlant;
import org.openapitools.client.model.Plant;

public class Session {
  private static final Pattern NEXT = Pattern.compile("cursor=([\\w-]+)>; rel=\"next\"");
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  private interface Call {
    ApiResponse<?> run() throws ApiException;
  }

  public static void main(String[] args) {
    long first = Long.parseLong(args[2]);
    long second = Long.parseLong(args[3]);
    long third = Long.parseLong(args[4]);
    long missing = Long.parseLong(args[5]);
    TransactionsApi plants = connect(args[0], args[1]);
    create(plants, new NewPlant().id(first).name("Rose").tag("garden"));
    create(plants, new NewPlant().id(second).name("Aloe vera"));
    create(plants, new NewPlant().id(third).name("🌱"));
    create(plants, new NewPlant().id(third).name("Ficus"));
    Matcher next = NEXT.matcher(show("list", () -> plants.getPayoutWithHttpInfo(2, null)));
    String cursor = next.find() ? next.group(1) : "";
    show("next", () -> plants.getPayoutWithHttpInfo(2, cursor));
    show("bad cursor", () -> plants.getPayoutWithHttpInfo(null, "AAAAAAAAAAB"));
    for (long id : new long[] {missing, first, second, third}) {
      show("delete " + id, () -> plants.deletePayoutWithHttpInfo(id));
    }
    show("bad token", () -> connect(args[0], "bad").getPayoutWithHttpInfo(null, null));
  }

  private static TransactionsApi connect(String baseUrl, String token) {
    ApiClient client = new ApiClient();
    client.setBasePath(baseUrl);
    client.setBearerToken(token);
    return new TransactionsApi(client);
  }

  private static void create(TransactionsApi plants, NewPlant plant) {
    show("create " + plant.getId(), () -> plants.createPayoutWithHttpInfo(plant));
  }

  /** Prints a step and its answer. Returns the header Link, if there is one. */
  private static String show(String step, Call call) {
    try {
      ApiResponse<?> answer = call.run();
      Object body = answer.getData();
      Stream<?> found = body instanceof List<?> ? ((List<?>) body).stream() : Stream.ofNullable(body);
      String names = found.map(plant -> describe((Plant) plant)).collect(Collectors.joining(", "));
      OUT.println((step + ": " + answer.getStatusCode() + " " + names).stripTrailing());
      return answer.getHeaders().getOrDefault("link", List.of("")).get(0);
    } catch (ApiException refused) {
      Error error = JSON.deserialize(refused.getResponseBody(), Error.class);
      OUT.println(step + ": " + refused.getCode() + " error " + error.getError());
      return "";
    }
  }

  private static String describe(Plant plant) {
    String name = plant.getName();
    return plant.getTag() == null ? name : name + " " + plant.getTag();
  }
}
