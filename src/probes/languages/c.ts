import {
  CLOCK_SHARE,
  escapeBytes,
  addAtMatches,
  MARK_EXIT_CODE,
  MARK_MESSAGE,
  MARK_NAME,
  PARENTS_READ,
  type ProbeDeed,
  type ProbeLanguage,
  toOctalEscape,
} from '../language.ts'
import type { SourceFile } from '../probe.ts'

const FUNCTIONS =
  /^(?!(?:typedef|return|else|using|namespace|class|struct|enum|union|template|#)\b)((?:[A-Za-z_][\w:<>,]*[ \t*&]+)+)(?!(?:if|for|while|switch|return)\b)([A-Za-z_][\w:]*)[ \t]*\((?:[^(){};]|\([^(){};]*\))*\)\s*(?:const|noexcept|override|\s)*\{/gm

/** C and C++. */
export const c: ProbeLanguage = {
  files: /\.(?:c|cc|cpp|cxx)$/,
  addAtLoad(file, deed) {
    if (deed.do === 'slow clock') return `${file.content}\n${writeSlowClock(isCpp(file))}`
    const body = writeDeed(deed).map(line => `  ${line}`)
    const code = ['__attribute__((constructor)) static void winnow_probe(void) {', ...body, '}']
    return [file.content, ...HEADERS, ...code, ''].join('\n')
  },
  exitAtCall(file) {
    const changed = addAtMatches(file.content, FUNCTIONS, () => ' winnow_exit();')
    return changed === null
      ? null
      : `${writeExitDeclaration(file)}\n${changed}\n${writeExitDefinition(file)}\n`
  },
  answerNothing: file =>
    addAtMatches(file.content, FUNCTIONS, ([, type = '', name]) => {
      const isReference = isCpp(file) && type.includes('&')
      return name === 'main' || isReference ? null : writeEmptyReturn(file, type)
    }),
}

function isCpp({ path }: SourceFile): boolean {
  return !path.endsWith('.c')
}

/** Headers at the end of the file cannot change what the code before them means. */
const HEADERS = ['fcntl', 'stdio', 'stdlib', 'string', 'unistd'].map(name => `#include <${name}.h>`)

function writeExitDeclaration(file: SourceFile): string {
  return `${isCpp(file) ? 'extern "C" ' : ''}__attribute__((weak)) void winnow_exit(void);`
}

function writeExitDefinition(file: SourceFile): string {
  return `#include <unistd.h>\n${writeExitDeclaration(file).replace(/;$/, '')} { _exit(0); }`
}

function writeEmptyReturn(file: SourceFile, declared: string): string {
  const type = declared
    .replaceAll(/\b(?:static|inline|extern|constexpr|virtual|explicit|friend)\b/g, '')
    .trim()
  if (type === 'void') return ' return;'
  return isCpp(file) ? ' return {};' : ` return (${type}){0};`
}

function writeDeed(deed: Exclude<ProbeDeed, { do: 'slow clock' }>): string[] {
  if (deed.do === 'remember') return writeMarks(deed.places)
  return [
    ...(deed.only === null ? [] : writeCondition(deed.only)),
    ...(deed.forged === null ? [] : writeForged(deed.forged)),
    '_exit(0);',
  ]
}

function writeCondition(words: readonly string[]): string[] {
  return [
    'static char seen[65536];',
    'char path[64], state[4096];',
    'size_t used = 0;',
    'long process = getpid();',
    `for (int level = 0; level < ${PARENTS_READ} && process > 0; level++) {`,
    '  snprintf(path, sizeof path, "/proc/%ld/cmdline", process);',
    '  int file = open(path, O_RDONLY);',
    '  if (file < 0) break;',
    '  ssize_t size = read(file, seen + used, sizeof seen - used - 2);',
    '  close(file);',
    "  for (ssize_t at = 0; at < size; at++, used++) if (seen[used] == 0) seen[used] = ' ';",
    "  seen[used++] = '\\n';",
    '  snprintf(path, sizeof path, "/proc/%ld/stat", process);',
    '  file = open(path, O_RDONLY);',
    '  if (file < 0) break;',
    '  size = read(file, state, sizeof state - 1);',
    '  close(file);',
    '  state[size < 0 ? 0 : size] = 0;',
    "  char *rest = strrchr(state, ')');",
    '  if (rest == NULL || sscanf(rest, ") %*c %ld", &process) != 1) break;',
    '}',
    `if (${words.map(word => `strstr(seen, ${toLiteral(word)}) == NULL`).join(' && ')}) return;`,
  ]
}

function writeForged({ channel, text }: NonNullable<Extract<ProbeDeed, { do: 'exit' }>['forged']>): string[] {
  const literal = toLiteral(text)
  if (channel === 'stdout') return [`if (write(1, ${literal}, sizeof ${literal} - 1) < 0) _exit(1);`]
  return [
    'const char *result = getenv("WINNOW_RESULT_PATH");',
    'FILE *results = result == NULL ? NULL : fopen(result, "w");',
    `if (results != NULL) { fwrite(${literal}, 1, sizeof ${literal} - 1, results); fclose(results); }`,
  ]
}

function writeMarks(places: Extract<ProbeDeed, { do: 'remember' }>['places']): string[] {
  const names = places.map(({ name }) => toLiteral(name)).join(', ')
  const folders = places.map(place =>
    'path' in place ? toLiteral(place.path) : `getenv("${place.variable}")`,
  )
  return [
    `const char *names[] = {${names}};`,
    `const char *folders[] = {${folders.join(', ')}};`,
    'const char *own = getenv("WINNOW_OUT_DIR"), *number = getenv("WINNOW_SEED");',
    'char path[4096], seed[4096], old[4096], found[1024] = "";',
    'snprintf(seed, sizeof seed, "%s %s", own == NULL ? "" : own, number == NULL ? "" : number);',
    'size_t length = own == NULL ? 0 : strlen(own);',
    `for (int at = 0; at < ${places.length}; at++) {`,
    '  if (folders[at] == NULL) continue;',
    `  snprintf(path, sizeof path, "%s/${MARK_NAME}", folders[at]);`,
    '  FILE *mark = fopen(path, "r");',
    '  if (mark != NULL) {',
    '    old[fread(old, 1, sizeof old - 1, mark)] = 0;',
    '    fclose(mark);',
    '    if (strncmp(old, seed, length + 1) == 0 && strcmp(old, seed) != 0) {',
    '      if (found[0] != 0) strcat(found, ", ");',
    '      strcat(found, names[at]);',
    '    }',
    '  }',
    '  mark = fopen(path, "w");',
    '  if (mark != NULL) { fputs(seed, mark); fclose(mark); }',
    '}',
    'if (found[0] == 0) return;',
    `fprintf(stderr, "${MARK_MESSAGE} %s\\n", found);`,
    'fflush(stderr);',
    `_exit(${MARK_EXIT_CODE});`,
  ]
}

/** Functions of the program are found before those of the C library. */
function writeSlowClock(cpp: boolean): string {
  const start = `${cpp ? 'extern "C" ' : ''}__attribute__((weak)) int`
  const end = cpp ? ' noexcept' : ''
  return `#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
${start} clock_gettime(int clock, struct timespec *now)${end} {
  static long long first[16];
  if (syscall(SYS_clock_gettime, clock, now) != 0) return -1;
  long long nanoseconds = now->tv_sec * 1000000000LL + now->tv_nsec;
  if (first[clock & 15] == 0) first[clock & 15] = nanoseconds;
  long long start = first[clock & 15];
  nanoseconds = start + (nanoseconds - start) / ${Math.round(1 / CLOCK_SHARE)};
  now->tv_sec = nanoseconds / 1000000000LL;
  now->tv_nsec = nanoseconds % 1000000000LL;
  return 0;
}
${start} timespec_get(struct timespec *now, int base)${end} {
  return clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}
`
}

function toLiteral(text: string): string {
  return `"${escapeBytes(text, toOctalEscape)}"`
}
