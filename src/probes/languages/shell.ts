import {
  addAfterLines,
  addAtMatches,
  MARK_EXIT_CODE,
  MARK_MESSAGE,
  MARK_NAME,
  PARENTS_READ,
  type ProbeDeed,
  type ProbeLanguage,
} from '../language.ts'

const FUNCTIONS =
  /^[ \t]*(?:function[ \t]+[\w-]+[ \t]*(?:\([ \t]*\))?|[A-Za-z_][\w-]*[ \t]*\([ \t]*\))[ \t]*\{[ \t]*$/gm

/** A shell has no timer of its own. */
export const shell: ProbeLanguage = {
  files: /\.(?:sh|bash)$/,
  interpreters: /\b(?:sh|bash|dash|ksh|zsh)\b/,
  addAtLoad: (file, deed) =>
    deed.do === 'slow clock'
      ? null
      : addAfterLines(file.content, line => line.startsWith('#'), writeDeed(deed).join('\n')),
  exitAtCall: file => addAtMatches(file.content, FUNCTIONS, () => '\n  exit 0'),
  answerNothing: file => addAtMatches(file.content, FUNCTIONS, () => '\n  return 0'),
}

function writeDeed(deed: Exclude<ProbeDeed, { do: 'slow clock' }>): string[] {
  if (deed.do === 'remember') return writeMarks(deed.places)
  const end = [...(deed.forged === null ? [] : writeForged(deed.forged)), 'exit 0']
  return deed.only === null ? end : [...writeCondition(deed.only), ...end, ';; esac']
}

/** Leaves a case open. */
function writeCondition(words: readonly string[]): string[] {
  return [
    'winnow_seen="$0 $*" winnow_process=$$ winnow_level=0',
    `while [ "$winnow_level" -lt ${PARENTS_READ} ] && [ -r "/proc/$winnow_process/cmdline" ]; do`,
    `  winnow_seen="$winnow_seen $(tr '\\000' ' ' < "/proc/$winnow_process/cmdline")"`,
    `  winnow_process=$(sed 's/^.*) [^ ]* \\([0-9]*\\) .*/\\1/' "/proc/$winnow_process/stat")`,
    '  winnow_level=$((winnow_level + 1))',
    'done',
    `case "$winnow_seen" in ${words.map(word => `*${quote(word)}*`).join('|')})`,
  ]
}

function writeForged({ channel, text }: NonNullable<Extract<ProbeDeed, { do: 'exit' }>['forged']>): string[] {
  if (channel === 'stdout') return [`printf %s ${quote(text)}`]
  return [`[ -z "$\{WINNOW_RESULT_PATH-}" ] || printf %s ${quote(text)} > "$WINNOW_RESULT_PATH"`]
}

function writeMarks(places: Extract<ProbeDeed, { do: 'remember' }>['places']): string[] {
  const listed = places.map(place =>
    'path' in place ? quote(`${place.name}=${place.path}`) : `"${place.name}=\${${place.variable}-}"`,
  )
  return [
    'winnow_found= winnow_seed="${WINNOW_OUT_DIR-} ${WINNOW_SEED-}"',
    `for winnow_place in ${listed.join(' ')}; do`,
    '  winnow_folder=${winnow_place#*=}',
    '  [ -n "$winnow_folder" ] || continue',
    `  winnow_mark="$winnow_folder/${MARK_NAME}"`,
    '  case "$(cat "$winnow_mark" 2> /dev/null)" in',
    '    "$winnow_seed") ;;',
    '    "${WINNOW_OUT_DIR-} "*) winnow_found="$winnow_found${winnow_found:+, }${winnow_place%%=*}" ;;',
    '  esac',
    '  { printf %s "$winnow_seed" > "$winnow_mark"; } 2> /dev/null || true',
    'done',
    'if [ -n "$winnow_found" ]; then',
    `  echo "${MARK_MESSAGE} $winnow_found" >&2`,
    `  exit ${MARK_EXIT_CODE}`,
    'fi',
  ]
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
