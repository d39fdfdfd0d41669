import org.json.JSONObject;

class Workload {
  public static void main(String[] arguments) {
    StringBuilder text = new StringBuilder("{");
    for (int at = 0; at < 2000; at++) {
      if (at > 0) text.append(',');
      text.append("\"field ").append(at).append("\": \"a text of an ordinary length, with \\\"quotes\\\" ").append(at).append('"');
    }
    text.append('}');
    int answer = 0;
    for (int round = 0; round < 120; round++) answer = answer * 31 + new JSONObject(text.toString()).length();
    System.out.println("{\"answer\": " + (answer & 0xffffffffL) + "}");
  }
}
