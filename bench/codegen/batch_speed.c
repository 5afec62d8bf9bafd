/* CPU time of a row: rlcc_decide_batch(), and rlcc_decide() a row at a time, on the rows of a file.
 *
 *     batch_speed ROWS COUNT REPEATS
 *
 * ROWS holds COUNT events as they lie in memory. Prints how many results the two have different, and ns a row of each.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "rlcc_batch.h"

static double seconds(void) {
  struct timespec t;

  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  const uint32_t count = (argc == 4) ? (uint32_t)strtoul(argv[2], NULL, 10) : 0U;
  const uint32_t repeats = (argc == 4) ? (uint32_t)strtoul(argv[3], NULL, 10) : 0U;
  rlcc_event *events = malloc((count + 1U) * sizeof *events);
  int32_t *batch = malloc((count + 1U) * sizeof *batch), *each = malloc((count + 1U) * sizeof *each);
  FILE *file = (argc == 4) ? fopen(argv[1], "rb") : NULL;
  uint32_t k, round, wrong = 0U;
  double begin, middle;

  if (events == NULL || batch == NULL || each == NULL || file == NULL || repeats == 0U ||
      fread(events, sizeof *events, count, file) != count) {
    return EXIT_FAILURE;
  }
  begin = seconds();
  for (round = 0U; round < repeats; round++) {
    rlcc_decide_batch(events, batch, count);
    __asm__ volatile("" : : "r"(batch) : "memory");
  }
  middle = seconds();
  for (round = 0U; round < repeats; round++) {
    for (k = 0U; k < count; k++) {
      each[k] = rlcc_decide(&events[k]);
    }
    __asm__ volatile("" : : "r"(each) : "memory");
  }
  for (k = 0U; k < count; k++) {
    wrong += (batch[k] != each[k]) ? 1U : 0U;
  }
  printf("%u %.2f %.2f\n", (unsigned)wrong, 1e9 * (middle - begin) / ((double)count * repeats),
         1e9 * (seconds() - middle) / ((double)count * repeats));
  return EXIT_SUCCESS;
}
