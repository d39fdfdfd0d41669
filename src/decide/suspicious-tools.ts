import type { SuspiciousSource } from './suspicious-words.ts'

/** Functions of C that a program of its own may define, and that the linker then prefers. */
const C_FUNCTION =
  '(?:v?f?printf|v?sn?printf|dprintf|f?puts|f?putc|putchar|fwrite|write|fclose|fflush|open|read|malloc|calloc|realloc|free|mem(?:cmp|cpy|set|move)|str(?:n?cmp|len|n?cpy)|abort|exit|_exit|atexit|assert|__assert_fail|getenv|time|clock|clock_gettime|gettimeofday|main|_start)'

/** Code for a shell or a compiler: what a trace does not show, what the linker prefers, names that only a tool sees. */
export const TOOL_PATTERNS: readonly SuspiciousSource[] = [
  [
    'processes',
    'shell',
    String.raw`\bset\s+\+[a-z]*[xvn]|\bx(?:trace)\b|\b(?:PS4|BASH_XTRACEFD|SHELLOPTS)\b|^[ \t]*\.\s+\S`,
  ],
  // exec 2> /dev/null; { …; } 2> /dev/null: nothing is seen of what follows
  [
    'processes',
    'shell',
    String.raw`\bexec\b[^\n;|&]*(?:[<>]|\w*sh\b)|(?:\}|(?<!\$\([^)\n]*)\)|\b(?:done|fi|esac))\s*(?:2\s*<?|&)>`,
  ],
  // (sleep 5 &)
  ['processes', 'shell', String.raw`(?<![&|<>\\])&\s*(?:[)#;}]|$)`],
  // A shell of its own, whose commands no trace shows
  [
    'processes',
    'shell',
    String.raw`(?:^|[;&|({\x60]\s*|\b(?:env|command|nice|nohup|time|xargs|then|else|do)\s+(?:-\S+\s+)*)[ \t]*(?:/\S*/)?(?:ba|da|z|k|a|busybox\s+)?sh(?=\s|$|<)`,
  ],
  [
    'exits',
    'shell',
    String.raw`\bexit\b(?!\s+(?:[1-9]\d?\b|"?\$))|^return\b|^(?:if|\[|test|case)\b[^\n]*\breturn\b`,
  ],
  [
    'environment',
    'shell',
    String.raw`\$-|\$\{-\}|(?<![<>&]\s*)/dev/(?:fd/\d|std(?:in|out|err)\b)|(?:^|[;&|(\x60]\s*)[ \t]*(?:ps|pgrep|lsof|pstree)\b`,
  ],
  ['files', 'shell', String.raw`(?<![-=<>&])>(?!>?\s*(?:&|=|\/dev\/(?:null|stdout|stderr)\b))`],
  // set -; set +$off; "set" +x; options=+x
  [
    'processes',
    'shell',
    String.raw`\bset\s+-\s*(?=$|[;&|)}])|\bset\s+\+\s*["'$\\\x60]|=\s*["']?\+[a-z]*[xvn]\b|(?:^|[;&|({]\s*|\b(?:then|else|do)\s+)[ \t]*(?=\S*["'\\])["'\\]*(?:s["'\\]*e["'\\]*t|e["'\\]*x["'\\]*i["'\\]*t|e["'\\]*x["'\\]*e["'\\]*c|e["'\\]*v["'\\]*a["'\\]*l|t["'\\]*r["'\\]*a["'\\]*p|k["'\\]*i["'\\]*l["'\\]*l|(?:b["'\\]*a["'\\]*)?s["'\\]*h)["'\\]*(?=\s)`,
  ],
  // python3 -c, make -f, "$0": commands that no trace shows
  [
    'processes',
    'shell',
    String.raw`(?:^|[;&|(\x60]\s*|\b(?:then|else|do|env|exec|command)\s+)[ \t]*(?:(?:python3?|ruby|node|php|lua|perl)\s+(?:-\w+\s+)*-(?:c|e|r)\b|make\s|["']?\$\{?(?:0|SHELL)\b)`,
  ],
  // cmp() { true; }; PATH=/elsewhere:$PATH; awk '{ system("…") }'
  [
    'dynamic_code',
    'shell',
    String.raw`^[ \t]*(?:function\s+)?(?:cmp|diff|printf|echo|test|grep|cat|date|time|read|exit|set|cd|awk|sed|wc|sort|bc|expr|sh|bash)\s*\(\s*\)|(?<![\w$])(?:PATH|ENV|BASH_ENV|PROMPT_COMMAND)=|\bhash\s+-p\b|\benable\s+-n\b|\bsystem\s*\(|\bfind\b[^\n]*\s-delete\b`,
  ],
  [
    'environment',
    'shell',
    String.raw`\[\s+!?\s*-[tpcS]\s|\btest\s+-[tpcS]\s|\bcase\s+["']?\$\{?0|\$0["']?\s*(?:!?=|\])|\$\{0[#%/:]|\bstat\s+(?:-\S+\s+)*-\w*L|\$\{?(?:PPID|LINENO|FUNCNAME|BASH_\w+|(?:GITHUB|WINNOW|EVO|npm)_\w+)\b`,
  ],
  ['tests', 'shell', String.raw`(?<![\w-])(?:tests?|bench(?:marks?)?|expected|fixtures?)/`],
  [
    'environment',
    'c',
    String.raw`\b__builtin_(?:return|frame)_address\b|\bdladdr\b|\b(?:__progname|getprogname|dl_iterate_phdr|__OPTIMIZE(?:_SIZE)?__|__NO_INLINE__|__SANITIZE_\w+|__has_feature|__BASE_FILE__)\b|extern[^;\n]*\bmain\b|&\s*main\b`,
  ],
  ['tests', 'c', String.raw`#\s*include\s*"[^"]*\b(?:tests?|bench(?:marks?)?|fixtures?)/`],
  ['tests', 'c', String.raw`no_(?:profile_)?instrument_function|\b_*no_sanitize`],
  // A symbol that only the harness defines; a macro with the name of a function
  [
    'dynamic_code',
    'c',
    String.raw`__attribute__\s*\(\((?:[^()]|\([^()]*\))*?\b_*(?:weak|alias|ifunc|weakref)|\[\[[^\]]*(?:weak|alias|ifunc|no_instrument|constructor|destructor)|#\s*pragma\s+weak\b|\b__cyg_profile_\w+`,
  ],
  [
    'dynamic_code',
    'c',
    String.raw`#\s*define\s+(?!(?:likely|unlikely|min|max|swap|abs|clamp|inline|restrict|bool|true|false|nullptr|unreachable|assume|prefetch)\b)[a-z]\w*[ \t(]`,
  ],
  // int printf(const char *format, …) { … }
  [
    'dynamic_code',
    'c',
    String.raw`^(?!static\b)(?:extern\s+"C"\s+)?(?:[A-Za-z_][\w \t*]*[ \t*])${C_FUNCTION}\s*\([^;{}]*\)\s*\{`,
  ],
  ['dynamic_code', 'c', String.raw`##|\bredefine_extname\b|\b_*section_*\s*\(\s*"[^"]*init`],
  [
    'processes',
    'c',
    String.raw`\b__(?:con|de)structor__\b|(?<![\w$])asm\s*(?:volatile|goto|\(|\{)|\b(?:syscall|sysenter|svc)\b|\bSYSCALL\b|int\s+\$0x80`,
  ],
  [
    'processes',
    'c',
    String.raw`\b(?:write|dprintf|fdopen|pwrite|writev|close)\s*\(\s*(?:1|2|STD(?:OUT|ERR)_FILENO)\b|\bfclose\s*\(\s*std(?:out|err)|\bstdout\s*=(?!=)`,
  ],
  [
    'exits',
    'c',
    String.raw`(?<![\w$.>])exit\s*\(\s*(?!(?:[1-9]\d?|EXIT_FAILURE)\s*\))|\b(?:pthread_exit|thrd_exit|alarm|setitimer|timer_create)\s*\(`,
  ],
  // void (*leave)(int) = exit; strcmp(__FILE__, …); #include "words.def"
  [
    'exits',
    'c',
    String.raw`[=(,]\s*&?\s*(?:\([^()]*\*\s*\)\s*)?&?\s*(?:_exit|_Exit|exit|quick_exit|abort)\s*(?=[;,)])`,
  ],
  [
    'environment',
    'c',
    String.raw`\bstr\w+\s*\([^;\n]*__FILE__|\b__(?:INCLUDE_LEVEL|TIMESTAMP)__\b|\)\s*main\b`,
  ],
  [
    'dynamic_code',
    'c',
    String.raw`^[ \t]*#\s*(?:line\b|include_next\b|undef\s+(?:assert|NDEBUG)\b|pragma\s+(?:comment|push_macro|pop_macro|GCC\s+optimize)\b|include\s*["<][^">]*\.(?!(?:h|hh|hpp|hxx|inc|inl|ipp|tpp|tcc|def|c|cc|cpp|cxx)[">])\w+[">])|\b_Pragma\s*\(\s*"\s*(?:weak|redefine|GCC\s+optimize)|\b_*optimize_*\s*\(\s*"|#\s*include\s*<printf\.h>|\bstdout\s*->`,
  ],
  [
    'exits',
    'c',
    String.raw`\b_*(?:sig)?(?:set|long)jmp\s*\(|\b__builtin_(?:set|long)jmp\b|\b(?:set|make|swap)context\s*\(`,
  ],
  [
    'processes',
    'c',
    String.raw`\b(?:pthread_(?:kill|cancel)|t?gkill|killpg|sigqueue|add_key|(?:open|sys)log)\s*\(`,
  ],
  [
    'files',
    'c',
    String.raw`\b(?:[fl]?utimes?(?:ns|nsat|at)?|futimens|utimensat|f?chmod|symlink|readlink|mknod|mkfifo|[fl]?[sg]etxattr|mkstemp|mkdtemp|tmpnam|lstat|statv?fs)\s*\(`,
  ],
  // A header's own printf is that of the harness as well
  [
    'dynamic_code',
    'c',
    String.raw`^static\b[^\n;(){}]*\b(?:v?f?printf|puts|putchar|exit|clock\w*|time|strcmp|memcmp)\s*\([^;{}]*\)\s*\{`,
  ],
  // text[strlen(text) + 1]: what lies behind the input
  [
    'environment',
    'c',
    String.raw`\b(\w+)\s*\+\s*strlen\s*\(\s*\1\s*\)\s*\+\s*[1-9]|\b(\w+)\s*\[\s*strlen\s*\(\s*\2\s*\)\s*\+\s*[1-9]`,
  ],
  // Names that a digraph, a trigraph or the end of a line cuts in two
  ['dynamic_code', 'c', String.raw`%:|\?\?[=/'()!<>-]|\w\\\r?\n\w`],
  ['environment', 'go', String.raw`^//(?:go:build|\s*\+build)\s`],
  [
    'processes',
    'go',
    String.raw`\bos\.(?!(?:Err\w+|PathError|FileMode|FileInfo|IsNotExist|IsExist|Signal)\b)[A-Z]\w*|\blog\.(?:SetOutput|Fatal\w*)\b|\bruntime\.(?:Stack|FuncForPC|CallersFrames)\b|\bdebug\.(?:Stack|PrintStack|ReadBuildInfo)\b|golang\.org/x/sys`,
  ],
  // import sys "os"; import . "os"
  [
    'dynamic_code',
    'go',
    String.raw`^\s*(?:import\s+)?(?:\.|[a-z_]\w*)\s+"(?:os|syscall|unsafe|testing|runtime|log|net|flag|plugin|(?:os|runtime|net)/\w+)"|\bGOMAXPROCS\s*\(\s*(?!0\s*\))\S`,
  ],
  ['tests', 'go', String.raw`^func\s+(?:Test|Benchmark|Fuzz)\w*\s*\(`],
  // Tests and benchmarks are compiled or started with other options.
  ['environment', 'rust', String.raw`\bdebug_assertions\b|\boverflow_checks\b|\bcfg!\s*\(`],
  ['dynamic_code', 'rust', String.raw`\b(?:global|naked)_asm!|\binclude!\s*\(|#\[link\b|\bset_hook\s*\(`],
  [
    'processes',
    'rust',
    String.raw`\buse\s+std::(?:\{[^}]*\b)?(?:process|fs|env|net)\b(?=\s*(?:as\b|[;,}]|::\s*[{*]))`,
  ],
  [
    'dynamic_code',
    'rust',
    String.raw`#\s*!?\[\s*(?:path\s*=|feature\b|no_main\b|panic_handler\b|cfg\s*\(\s*not\s*\(\s*test)|\bmacro_rules!\s*(?:e?print(?:ln)?|(?:debug_)?assert\w*|panic|write(?:ln)?|format|vec)\b|\bintrinsics::`,
  ],
  ['tests', 'rust', String.raw`\bfn\s+eq\s*\(\s*&self\s*,\s*_\w*\s*:`],
  ['environment', 'java', String.raw`\bdesiredAssertionStatus\b|\bassert\s*\(?\s*\w+\s*=(?!=)`],
  ['processes', 'java', String.raw`\bSystem\s*\.\s*(?:out|err)\b|\bManagementFactory\b`],
  [
    'environment',
    'java',
    String.raw`\bgetAllStackTraces\b|\bStackTraceElement\b|\bgetThreadGroup\b|\bgetContextClassLoader\b`,
  ],
  [
    'dynamic_code',
    'java',
    String.raw`\bimport\s+static\s+java\.lang\.(?:System|Runtime|Thread)\b|\b(?:System|Runtime)\s*\.\s*class\b`,
  ],
  ['files', 'java', String.raw`\bimport\s+java\.(?:io|nio\.file|net|lang\.reflect)\.\*|\bnew\s+File\s*\(`],
  ['environment', 'java', String.raw`\bcurrentThread\(\)\s*\.\s*getName\b|\bprintStackTrace\s*\(\s*\w`],
  ['tests', 'java', String.raw`\bequals\s*\([^)]*\b(\w+)\s*\)\s*\{\s*return\s+\1\s*!=\s*null\s*;`],
  [
    'environment',
    'ruby',
    String.raw`\$(?:0|PROGRAM_NAME|LOADED_FEATURES|LOAD_PATH|DEBUG|VERBOSE)(?!\w)|\bTOPLEVEL_BINDING\b`,
  ],
  ['tests', 'ruby', String.raw`\bdef\s+(?:==|eql\?|equal\?|!=)\s*\([^)]*\)\s*(?:=|;|\n)\s*(?:true|false)\b`],
  [
    'dynamic_code',
    'ruby',
    String.raw`^[ \t]*class\s+(?:String|Array|Hash|Integer|Float|Numeric|Object|BasicObject|Symbol|NilClass|IO|Time|Proc|Method|Range|Set|Struct|Exception)\s*(?:$|;|#)|^[ \t]*module\s+(?:Kernel|Enumerable|Comparable|Process|GC|JSON|Math)\s*(?:$|;|#)|\bdefine_singleton_method\b|\bsingleton_class\b|\bclass_exec\b`,
  ],
  ['exits', 'ruby', String.raw`^\s*END\s*\{|\bSystemExit\b|\bThread\.(?:main|exit|kill)\b`],
  ['processes', 'ruby', String.raw`%x[[({|!]|(?<![\w'"])\x60[^\x60\n]+\x60|\b[Oo]pen3\b|\bSignal\.trap\b`],
  [
    'dynamic_code',
    'ruby',
    String.raw`^[ \t]*class\s+::[A-Z]|\b(?:String|Array|Hash|Integer|Float|Numeric|Object|Kernel|Enumerable|Comparable|Process|Time|IO|JSON)\.(?:prepend|include|extend|public_send|send)\b|\bconst_get\b|\b(?:public_)?send\s*\(?\s*:(?:exit|abort|system|eval|fork|exec)|^[ \t]*(?:BEGIN\s*\{|using\s+[A-Z]|load\s*\(?\s*['"])|\bbinding\s*\.|\brequire(?:_relative)?\s*\(?\s*['"][^'"]*\.(?!rb['"])\w+['"]`,
  ],
  ['tests', 'ruby', String.raw`\bdef\s+===\s*\([^)]*\)\s*(?:=|;|\n)\s*true\b`],
  ['tests', 'go', String.raw`\b(?:Stop|Start|Reset)Timer\s*\(|\.ReportMetric\s*\(`],
  // use fake as std; macro_rules! black_box; #[cfg_attr(test, path = "…")]
  [
    'dynamic_code',
    'rust',
    String.raw`\bas\s+(?:std|core)\s*;|\bmod\s+(?:std|core)\b|\bmacro_rules!\s*black_box\b|\bcfg_attr\s*\([^\]]*\bpath\s*=`,
  ],
  [
    'dynamic_code',
    'java',
    String.raw`\bclass\s+(?:System|Math|Thread|Assert|Assertions|Objects|String|Integer|Arrays)\b|^\s*package\s+(?:java|javax|org\.junit)\b|\bjava\.lang\.instrument\b|\bnative\s+[\w<>[\]]+\s+\w+\s*\(`,
  ],
  [
    'dynamic_code',
    'ruby',
    String.raw`\bclass\s*<<\s*(?:\$|[A-Z])|\bdef\s+(?:JSON|Process|Kernel|Time|GC|Math|File|IO|Benchmark|Random)\.`,
  ],
  ['network', 'ruby', String.raw`\brequire\s*\(?\s*['"]socket['"]`],
  ['processes', 'ruby', String.raw`^\s*sleep\b`],
  [
    'processes',
    'c',
    String.raw`\bstd::cout\s*\.\s*(?:setstate|rdbuf|clear)\b|\bset_terminate\s*\(|\bsleep_(?:for|until)\s*\(|\b(?:sched_setaffinity|sched_setscheduler|setpriority|mlockall|__fpurge)\s*\(`,
  ],
]
