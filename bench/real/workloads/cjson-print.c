#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cJSON.h"

int main(void) {
  unsigned answer = 0;
  cJSON *root = cJSON_CreateObject();
  for (int at = 0; at < 200; at++) {
    char name[32];
    sprintf(name, "a name of field %d", at);
    cJSON_AddItemToObject(root, name, cJSON_CreateString("a text of some length, with \"quotes\"\n and lines"));
  }
  for (int round = 0; round < 5000; round++) {
    char *text = cJSON_Print(root);
    answer = answer * 31 + (unsigned)strlen(text);
    free(text);
  }
  printf("{\"answer\": %u}\n", answer);
  return 0;
}
