/**
 * Names in source code that let a change do more than compute, by language. Blanks and line ends may stand between
 * the parts of a name. A name without a dot is not a member (`re.compile` is not `compile(`), one that ends in `(` is
 * called, one that ends in `=` is assigned, `*` stands for
 * the rest of a name, and `~` for a blank.
 */

export type SourceLanguage = 'js' | 'python' | 'go' | 'rust' | 'java' | 'ruby' | 'c' | 'shell' | 'other'

/** Languages that a pattern is for. `other` is for those without words of their own, such as Perl and Lua. */
export const SOURCES = {
  js: ['js'],
  python: ['python'],
  go: ['go'],
  rust: ['rust'],
  java: ['java'],
  ruby: ['ruby'],
  c: ['c'],
  shell: ['shell'],
  other: ['other'],
  named: ['js', 'python', 'ruby'],
  adjacent: ['python', 'ruby', 'c'],
  all: ['js', 'python', 'go', 'rust', 'java', 'ruby', 'c', 'other'],
} as const satisfies Record<string, readonly SourceLanguage[]>

export interface WordRule extends Partial<Record<SourceLanguage, string>> {
  means: string
}

export const WORD_RULES = {
  exits: {
    means: 'can end the process early',
    js: 'process.exit process.reallyExit process.abort process.exitCode process[ (process) Deno.exit Bun.exit',
    python:
      '_exit ._exit sys.exit .abort() SystemExit exit() exit(0) quit() atexit weakref.finalize _thread.exit',
    go: 'os.Exit syscall.Exit runtime.Goexit',
    rust: 'process::exit libc::exit libc::_exit exit_group',
    java: 'System.exit .halt( exitProcess .exitProcess sys.exit Platform.exit',
    ruby: 'exit exit! at_exit Process.exit Process.exit! Kernel.exit abort',
    c: '_exit( _Exit( quick_exit( atexit( exit(0) exit(EXIT_SUCCESS) SYS_exit SYS_exit_group on_exit( at_quick_exit( __cxa_atexit __builtin_trap(',
    other: 'exit exit( .exit( os.exit _exit die die( Environment.Exit System.halt',
  },
  clock: {
    means: 'replaces a clock or a timer',
    js: `performance.now= performance.timeOrigin= 'perf_hooks' 'node:perf_hooks' 'timers' 'node:timers' Date.now= Date= Date.prototype Performance.prototype process.hrtime= process.hrtime.bigint= hrtime.bigint= process.uptime= globalThis.performance= globalThis.Date= global.Date= global.performance= globalThis.setTimeout= globalThis.setImmediate= .defineProperty(globalThis .defineProperty(performance .defineProperty(Date .defineProperty(process .assign(globalThis .assign(performance .assign(process .setPrototypeOf(performance .setPrototypeOf(Date timerify(`,
    python:
      'time.time= time.perf_counter= time.perf_counter_ns= time.monotonic= time.process_time= time.*= timeit.*= datetime.*= setattr(time setattr(timeit freezegun time_machine sys.modules',
    go: 'linkname testing.Benchmark=',
    rust: 'clock_gettime no_mangle export_name',
    java: 'Clock.fixed Clock.offset',
    ruby: 'Process.define_singleton_method Process.singleton_class clock_gettime Timecop class~Time module~Benchmark',
    c: 'clock_gettime( gettimeofday( clock( times(',
    shell: 'faketime LD_PRELOAD',
  },
  environment: {
    means: 'reads the environment, its arguments, its parent process or the call stack',
    js: 'process.argv process.argv0 process.ppid process.title process.execArgv process.mainModule process.cwd process.env import.meta.main require.main module.parent process.report process.moduleLoadList process.getActiveResourcesInfo process.execPath process.debugPort getCallSites .getCallSite .getCallSites .hostname( .userInfo( Error().stack .stack.match .stack.split .stackTraceLimit .captureStackTrace .prepareStackTrace /proc/ .eventLoopUtilization .nodeTiming .resolvedOptions navigator.* import.meta.dirname import.meta.filename',
    python:
      '.environ .environb .getenv .getppid .getcwd getenv getppid .argv .orig_argv ._getframe _getframe settrace setprofile gettrace .settrace .setprofile .gettrace inspect.stack inspect.currentframe traceback psutil __main__ /proc/ .findCaller LogRecord .LogRecord .makeRecord .getLogRecordFactory getpass tracemalloc',
    go: 'os.Getenv os.LookupEnv os.Environ os.Args os.Getppid os.Getwd os.Executable flag.Lookup flag.CommandLine testing.Testing runtime.Caller runtime.Callers /proc/ runtime.NumGoroutine runtime.ReadMemStats',
    rust: 'env::var env::vars env::var_os env::args env::args_os env::current_exe env::current_dir option_env! parent_id Backtrace /proc/ thread::current',
    java: 'System.getenv System.getProperty System.getProperties ProcessHandle Locale.getDefault TimeZone.getDefault Thread.dumpStack .getStackTrace getStackTrace StackWalker RuntimeMXBean /proc/ sys.env sys.props',
    ruby: 'ENV ARGV PROGRAM_NAME Process.ppid caller caller_locations Dir.pwd /proc/',
    c: 'getenv secure_getenv getppid environ getcwd getauxval program_invocation_name program_invocation_short_name backtrace( /proc/',
    shell: 'WINNOW_* EVO_* GITHUB_* PPID npm_* BASH_SOURCE /proc/',
    other: 'getenv ENV @ARGV $ARGV os.getenv caller debug.traceback Environment.* PROCINFO ENVIRON /proc/',
  },
  files: {
    means: 'reads or writes files',
    js: `'fs' 'node:fs' 'fs/promises' 'node:fs/promises' 'node:sqlite' 'node:os' 'os' fs.* readFile( readFileSync( writeFile( writeFileSync( appendFile( appendFileSync( createWriteStream( createReadStream( mkdirSync( localStorage Deno.* Bun.file Bun.write tmpdir(`,
    python:
      'open( io.open os.open os.mkdir os.makedirs os.rename os.replace os.remove os.listdir os.scandir os.path.exists os.stat .read_text( .write_text( .read_bytes( .write_bytes( pathlib tempfile shelve pickle marshal sqlite3 dbm shutil joblib diskcache zipfile fileinput linecache pkgutil FileIO .tofile( .to_pickle( read_pickle np.save np.load np.fromfile np.memmap cProfile py_compile compileall',
    go: 'filepath.Glob filepath.Walk filepath.WalkDir os.Create os.CreateTemp os.OpenFile os.Open os.WriteFile os.ReadFile os.Mkdir os.MkdirAll os.MkdirTemp os.Rename os.Remove os.Symlink os.TempDir os.UserCacheDir os.Stat ioutil.* encoding/gob embed.FS go:embed',
    rust: 'fs::* File::open File::create File::options OpenOptions temp_dir include_str! include_bytes!',
    java: 'java.io.File java.nio.file Files.* Paths.get FileWriter FileReader FileOutputStream FileInputStream RandomAccessFile Preferences ObjectInputStream ObjectOutputStream',
    ruby: 'File.* IO.* Dir.* FileUtils Tempfile PStore Marshal.* Pathname tmpdir',
    c: 'fopen( freopen( open( openat( creat( mkdir( rename( unlink( opendir( stat( tmpfile( ofstream ifstream std::filesystem',
    shell: 'tee mktemp ln mv cp touch mkdir mkfifo rm dd sed~-i crontab logger truncate install flock',
    other: 'open( io.open fopen file_put_contents fwrite File.* io.* unlink mkdir',
  },
  shared_memory: {
    means: 'uses memory that outlives the process',
    js: '/dev/shm',
    python: 'shared_memory mmap sysv_ipc posix_ipc /dev/shm',
    go: 'syscall.Mmap SYS_SHMGET SHMGET /dev/shm',
    rust: 'mmap shmget shm_open memfd_create /dev/shm',
    java: 'MappedByteBuffer /dev/shm',
    ruby: 'Fiddle /dev/shm',
    c: 'shmget( shmat( shm_open( mmap( semget( msgget( mq_open( sem_open( memfd_create( /dev/shm',
    shell: 'ipcs ipcmk ipcrm /dev/shm',
  },
  network: {
    means: 'uses the network',
    js: `fetch( XMLHttpRequest WebSocket EventSource 'http' 'https' 'net' 'dgram' 'tls' 'dns' 'node:http' 'node:https' 'node:http2' 'node:net' 'node:dgram' 'node:tls' 'node:dns'`,
    python: 'socket urllib httpx aiohttp http.client http.server ftplib smtplib xmlrpc urlopen(',
    go: '"net" "net/http" "net/rpc" net.Dial net.Listen http.Get',
    rust: 'std::net TcpStream TcpListener UdpSocket UnixStream UnixListener reqwest',
    java: 'java.net Socket ServerSocket HttpClient URLConnection',
    ruby: 'Net::HTTP TCPSocket UNIXSocket UDPSocket open-uri',
    c: 'socket( getaddrinfo( sendto( sys/socket.h netinet/in.h arpa/inet.h',
    shell: 'curl wget nc ssh ncat',
    other: 'socket fsockopen curl_exec HttpClient',
  },
  processes: {
    means: 'starts processes or threads, handles signals or reaches into the running one',
    js: `child_process process.kill process.on process.once process.emit process.binding process.dlopen process.stdout process.stderr process._rawDebug process._linkedBinding process.addListener process.prependListener process.removeAllListeners process.setUncaughtExceptionCaptureCallback process.chdir process.send process.disconnect process.finalization process.getBuiltinModule 'cluster' 'node:cluster' 'inspector' 'node:inspector' 'inspector/promises' 'node:inspector/promises' 'v8' 'node:v8' 'repl' 'node:repl' 'trace_events' 'node:trace_events' 'node:process' 'process' 'worker_threads' 'node:worker_threads' 'diagnostics_channel' 'node:diagnostics_channel' SharedArrayBuffer 'async_hooks' 'tty' 'node:tty' 'node:wasi' WebAssembly.* FinalizationRegistry MessageChannel BroadcastChannel`,
    python:
      'subprocess ctypes ctypeslib .ctypeslib cffi faulthandler pty gc.get_objects gc.get_referrers antigravity breakpoint() gc.disable gc.freeze gc.set_threshold',
    go: 'os/exec os/signal exec.Command syscall.* os.StartProcess os.FindProcess os.Stdout os.Stderr signal.Notify "C" runtime.SetFinalizer runtime.LockOSThread debug.SetGCPercent debug.SetMemoryLimit debug.FreeOSMemory',
    rust: 'Command::new process::Command process::abort libc::* signal_hook stdout() asm! catch_unwind global_allocator',
    java: 'ProcessBuilder .getRuntime System.setOut System.setErr System.load System.loadLibrary System.setProperty .addShutdownHook sun.misc .setDefaultUncaughtExceptionHandler LockSupport',
    ruby: 'system( fork spawn( popen Process.kill Process.fork Process.spawn Process.daemon $stdout $stderr STDOUT STDERR trap( GC.*',
    c: 'fork( vfork( clone( execv( execve( execvp( system( popen( kill( raise( signal( sigaction( ptrace( setjmp( longjmp( prctl( syscall( dup2( constructor destructor __asm__ register_printf_* fopencookie setvbuf( setbuf( sleep( usleep( nanosleep(',
    shell: 'kill pkill trap nohup setsid unshare disown coproc ulimit renice sleep',
    other: 'system( exec( fork shell_exec passthru proc_open popen os.execute %SIG qx kill',
  },
  dynamic_code: {
    means: 'runs or changes code that the diff does not show',
    js: `eval( Function( constructor.constructor 'vm' 'node:vm' 'module' 'node:module' 'node:async_hooks' createRequire runInThisContext runInNewContext require.cache require.extensions globalThis[ global[ Math.*= JSON.*= Object.*= Array.*= String.*= Promise.*= console.*= Reflect.set Atomics.wait 'async_hooks'`,
    python:
      'eval( exec( compile( __import__( globals( locals( vars( delattr( runpy codeop redirect_stdout redirect_stderr .redirect_stdout .redirect_stderr getattr(os getattr(sys getattr(time getattr(builtins importlib __builtins__ builtins __dict__ __subclasses__ __globals__ __code__ __loader__ setattr( CodeType FunctionType .CodeType .FunctionType posix __del__ .__code__ .__globals__ .__builtins__ .__subclasses__ .__loader__ .__self__ __path__ zipimport',
    go: 'plugin.Open unsafe.* linkname reflect.NewAt func~init(',
    rust: 'libloading transmute proc_macro extern~"C" link_section ctor',
    java: 'Class.forName ClassLoader .setAccessible MethodHandles ScriptEngine Unsafe Instrumentation java.lang.reflect .getDeclaredField .getDeclaredFields .getDeclaredMethod .getDeclaredMethods .getDeclaredConstructor .getMethod( ServiceLoader',
    ruby: 'eval *_eval *instance_exec *define_method *const_set *remove_method *remove_const *alias_method prepend refine ObjectSpace TracePoint set_trace_func __send__ RubyVM autoload',
    c: 'dlopen( dlsym( mprotect( __wrap_* .init_array',
    shell: 'eval source alias',
    other: 'eval eval( loadstring load( dofile debug.* setmetatable getmetatable _G DllImport Reflection',
  },
  tests: {
    means: 'reaches into the test framework or the benchmark tool',
    js: `asymmetricMatch 'jest.asymmetricMatcher' '@vitest/expect' 'expect' 'sinon' 'node:test' 'node:assert' 'node:assert/strict' 'assert' 'vitest' '@jest/globals' 'mocha' 'chai' 'tinybench' 'benchmark' 'mitata' 'tap' 'ava'`,
    python: 'pytest _pytest pytest_* unittest timeit doctest pyperf',
    go: '"testing" testing.*',
    rust: 'criterion bencher #[bench] #[test] cfg(test)',
    java: 'org.junit org.testng org.openjdk.jmh',
    ruby: 'RSpec Minitest Benchmark Test::Unit',
    c: 'gtest catch2 benchmark:: NDEBUG',
    shell: 'pytest vitest jest mocha rspec ctest',
  },
  special_case: { means: 'treats one input, some calls or some days unlike the others' },
  layout: { means: 'puts several statements on one line' },
  deferred: { means: 'may work later than it is called, or only if its answer is read' },
} as const satisfies Record<string, WordRule>
export type WordRuleName = keyof typeof WORD_RULES

/** A rule, the languages it is for, and a regular expression. */
export type SuspiciousSource = readonly [WordRuleName, keyof typeof SOURCES, string]
