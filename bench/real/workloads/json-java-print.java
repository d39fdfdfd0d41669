import org.json.JSONObject;

class Workload {
  public static void main(String[] arguments) {
    JSONObject object = new JSONObject();
    for (int at = 0; at < 2000; at++) object.put("field " + at, "a text of an ordinary length " + at);
    int answer = 0;
    for (int round = 0; round < 150; round++) answer = answer * 31 + object.toString().length();
    System.out.println("{\"answer\": " + (answer & 0xffffffffL) + "}");
  }
}
