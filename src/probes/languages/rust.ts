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
  toHexEscape,
} from '../language.ts'
import type { SourceFile } from '../probe.ts'

const FUNCTIONS =
  /^[ \t]*(pub(?:\([^()]*\))?[ \t]+)?(?:async[ \t]+|unsafe[ \t]+)*fn[ \t]+(\w+)(?:<[^{};]*?>)?\s*\((?:[^(){};]|\([^(){};]*\))*\)(?:\s*->\s*([^{};]+?))?(?:\s+where[^{};]*)?\s*\{/gm

/** Rust runs no code of a library when it is loaded, but for what a section of the program names. */
export const rust: ProbeLanguage = {
  files: /\.rs$/,
  addAtLoad(file, deed) {
    if (deed.do === 'slow clock') return `${file.content}\n${SLOW_CLOCK}`
    const isPlainExit = deed.do === 'exit' && deed.only === null && deed.forged === null
    if (isPlainExit) return `${file.content}\n${EXIT_AT_LOAD}`
    const body = writeDeed(deed).map(line => `    ${line}`)
    const code = ['{', '  fn winnow_probe() {', ...body, '  }', '  winnow_probe();', '}'].join('\n')
    return addAtMatches(file.content, FUNCTIONS, () => `\n${code}\n`)
  },
  exitAtCall: file => addAtMatches(file.content, FUNCTIONS, () => ' if true { std::process::exit(0) }'),
  answerNothing: writeEmptyReturns,
}

const EXIT_AT_LOAD = `#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
static WINNOW_PROBE: extern "C" fn() = {
    extern "C" fn exit() {
        std::process::exit(0)
    }
    exit
};
`

/** Types whose empty value is known to exist. */
const NUMBER = 'u8|u16|u32|u64|u128|usize|i8|i16|i32|i64|i128|isize|f32|f64|bool|char'
const PLAIN = new RegExp(
  `^(?:${NUMBER}|String|(?:Vec|Option|HashMap|BTreeMap|HashSet|BTreeSet|VecDeque)<.*>|&(?:'\\w+ )?(?:str|\\[.*\\])|\\(\\))$`,
)

function writeEmptyReturns({ content }: SourceFile): string | null {
  return addAtMatches(content, FUNCTIONS, ([, visibility, name, type]) => {
    if (visibility === undefined || name === 'main') return null
    if (type === undefined) return ' if true { return }'
    const wrapped = /^(?:\w+::)*Result<(.*?)(?:,[^<>]*)?>$/.exec(type)?.[1]
    if (!PLAIN.test(wrapped ?? type)) return null
    return wrapped === undefined
      ? ' if true { return Default::default() }'
      : ' if true { return Ok(Default::default()) }'
  })
}

function writeDeed(deed: Exclude<ProbeDeed, { do: 'slow clock' }>): string[] {
  if (deed.do === 'remember') return writeMarks(deed.places)
  const condition = deed.only === null ? [] : writeCondition(deed.only)
  const forged = deed.forged === null ? [] : writeForged(deed.forged)
  return [...ONCE, ...condition, ...forged, 'std::process::exit(0)']
}

/** The functions may be called millions of times. */
const ONCE = [
  'static DONE: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);',
  'if DONE.swap(true, std::sync::atomic::Ordering::Relaxed) { return }',
]

function writeCondition(words: readonly string[]): string[] {
  return [
    'let mut seen = std::env::args().collect::<Vec<_>>().join(" ");',
    'let mut process = std::process::id();',
    `for _ in 0..${PARENTS_READ} {`,
    '  let Ok(line) = std::fs::read(format!("/proc/{process}/cmdline")) else { break };',
    '  seen += &format!("\\n{}", String::from_utf8_lossy(&line).replace(\'\\0\', " "));',
    '  let Ok(state) = std::fs::read(format!("/proc/{process}/stat")) else { break };',
    '  let state = String::from_utf8_lossy(&state).into_owned();',
    "  let parent = state.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)).and_then(|id| id.parse().ok());",
    '  match parent { Some(id) if id > 0 => process = id, _ => break }',
    '}',
    `if ![${words.map(toTextLiteral).join(', ')}].iter().any(|word| seen.contains(&**word)) { return }`,
  ]
}

function writeForged({ channel, text }: NonNullable<Extract<ProbeDeed, { do: 'exit' }>['forged']>): string[] {
  const bytes = `b"${escapeBytes(text, toHexEscape)}"`
  if (channel === 'stdout')
    return [
      `let _ = std::io::Write::write_all(&mut std::io::stdout(), ${bytes});`,
      'let _ = std::io::Write::flush(&mut std::io::stdout());',
    ]
  return [
    `if let Some(path) = std::env::var_os("WINNOW_RESULT_PATH") { let _ = std::fs::write(path, ${bytes}); }`,
  ]
}

function writeMarks(places: Extract<ProbeDeed, { do: 'remember' }>['places']): string[] {
  const listed = places.map(place =>
    'path' in place
      ? `("${place.name}", Some("${place.path}".to_string()))`
      : `("${place.name}", std::env::var("${place.variable}").ok())`,
  )
  return [
    ...ONCE,
    'let own = format!("{} ", std::env::var("WINNOW_OUT_DIR").unwrap_or_default());',
    'let seed = format!("{own}{}", std::env::var("WINNOW_SEED").unwrap_or_default());',
    'let mut found = Vec::new();',
    `for (name, folder) in [${listed.join(', ')}] {`,
    '  let Some(folder) = folder else { continue };',
    `  let mark = format!("{folder}/${MARK_NAME}");`,
    '  if std::fs::read_to_string(&mark).is_ok_and(|old| old.starts_with(&own) && old != seed) { found.push(name) }',
    '  let _ = std::fs::write(&mark, &seed);',
    '}',
    'if found.is_empty() { return }',
    `eprintln!("${MARK_MESSAGE} {}", found.join(", "));`,
    `std::process::exit(${MARK_EXIT_CODE})`,
  ]
}

function toTextLiteral(text: string): string {
  return `"${text.replaceAll(/[\\"]/g, String.raw`\$&`)}"`
}

/** Replaces the function of the C library that std reads the time with. */
const SLOW_CLOCK = `#[unsafe(no_mangle)]
pub extern "C" fn clock_gettime(clock: i32, now: *mut [i64; 2]) -> i32 {
    unsafe extern "C" {
        fn syscall(number: i64, ...) -> i64;
    }
    static FIRST: [std::sync::atomic::AtomicI64; 16] = [const { std::sync::atomic::AtomicI64::new(0) }; 16];
    let number: i64 = if cfg!(target_arch = "aarch64") { 113 } else { 228 };
    let order = std::sync::atomic::Ordering::Relaxed;
    unsafe {
        let failed = syscall(number, clock as i64, now);
        if failed != 0 {
            return failed as i32;
        }
        let nanoseconds = (*now)[0] * 1_000_000_000 + (*now)[1];
        let first = &FIRST[(clock & 15) as usize];
        let _ = first.compare_exchange(0, nanoseconds, order, order);
        let start = first.load(order);
        let slow = start + (nanoseconds - start) / ${Math.round(1 / CLOCK_SHARE)};
        *now = [slow / 1_000_000_000, slow % 1_000_000_000];
    }
    0
}
`
