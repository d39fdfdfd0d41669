import com.eclipsesource.json.JsonArray;
import com.eclipsesource.json.JsonObject;

class Workload {
  public static void main(String[] arguments) {
    JsonArray array = new JsonArray();
    for (int at = 0; at < 500; at++)
      array.add(new JsonObject().add("name", "a text of an ordinary length " + at).add("id", at).add("ok", true));
    int answer = 0;
    for (int round = 0; round < 300; round++) answer = answer * 31 + array.toString().length();
    System.out.println("{\"answer\": " + (answer & 0xffffffffL) + "}");
  }
}
