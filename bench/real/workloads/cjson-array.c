#include <stdio.h>
#include "cJSON.h"

int main(void) {
  unsigned answer = 0;
  for (int round = 0; round < 60; round++) {
    cJSON *array = cJSON_CreateArray();
    for (int at = 0; at < 2000; at++) cJSON_AddItemToArray(array, cJSON_CreateNumber(at));
    answer = answer * 31 + (unsigned)cJSON_GetArraySize(array);
    cJSON_Delete(array);
  }
  printf("{\"answer\": %u}\n", answer);
  return 0;
}
