/* compare ORIGINAL.sol TUNED.sol ORIGINAL.log TUNED.log: are the solutions the same, and what was gained?
 *
 * A solution is a file of doubles, a log holds the lines that `poisson` printed, one for each run.  The solutions
 * are the same when they differ by at most TOLERANCE, relative to the largest element, and when the numbers of
 * iterations differ by at most MOST_EXTRA.  The speed-up is that of the fastest runs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Both solve to a relative residual of 1e-10; tuned sums may be formed in another order. */
#define TOLERANCE 1e-8
#define MOST_EXTRA 2

typedef struct {
  int iterations;
  double seconds;
  int runs;
} timing;

static FILE *opened(const char *path, const char *mode)
{
  FILE *file = fopen(path, mode);

  if (file == NULL) {
    fprintf(stderr, "compare: cannot read `%s`\n", path);
    exit(2);
  }
  return file;
}

static timing read_log(const char *path)
{
  FILE *file = opened(path, "r");
  timing best = {0, INFINITY, 0};
  int iterations;
  double seconds;

  while (fscanf(file, " n %*d iterations %d seconds %lf residual %*f error %*f", &iterations, &seconds) == 2) {
    best.iterations = iterations;
    best.seconds = fmin(best.seconds, seconds);
    best.runs++;
  }
  fclose(file);
  if (best.runs == 0) {
    fprintf(stderr, "compare: `%s` holds no run\n", path);
    exit(2);
  }
  return best;
}

static double difference(const char *original, const char *tuned)
{
  FILE *first = opened(original, "rb"), *second = opened(tuned, "rb");
  double a, b, most = 0.0, largest = 0.0;
  long count = 0;

  while (fread(&a, sizeof a, 1, first) == 1) {
    if (fread(&b, sizeof b, 1, second) != 1 || !isfinite(a) || !isfinite(b))
      return INFINITY;
    most = fmax(most, fabs(a - b));
    largest = fmax(largest, fabs(a));
    count++;
  }
  if (fread(&b, sizeof b, 1, second) == 1 || count == 0)
    return INFINITY;
  fclose(first);
  fclose(second);
  return largest > 0.0 ? most / largest : most;
}

int main(int count, char **words)
{
  timing original, tuned;
  double apart;
  int same;

  if (count != 5) {
    fprintf(stderr, "usage: %s ORIGINAL.sol TUNED.sol ORIGINAL.log TUNED.log\n", words[0]);
    return 2;
  }
  apart = difference(words[1], words[2]);
  original = read_log(words[3]);
  tuned = read_log(words[4]);
  same = apart <= TOLERANCE && abs(original.iterations - tuned.iterations) <= MOST_EXTRA;
  printf("original   %d iterations, %.4f s (fastest of %d runs)\n", original.iterations, original.seconds,
         original.runs);
  printf("tuned      %d iterations, %.4f s (fastest of %d runs)\n", tuned.iterations, tuned.seconds, tuned.runs);
  printf("solutions  differ by %.1e of the largest element, %.0e is allowed: %s\n", apart, TOLERANCE,
         same ? "the same" : "NOT THE SAME");
  printf("speed-up   %.2f\n", original.seconds / tuned.seconds);
  return same ? 0 : 1;
}
