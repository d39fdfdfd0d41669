import { describe, expect, it } from 'vitest'
import { commandsIn, found } from './a-project.ts'

describe('a Go module', () => {
  const MODULE = { 'go.mod': 'module example.com/parse\n\ngo 1.22\n' }
  const BENCH = 'package parse\nfunc BenchmarkParse(b *testing.B) {}\nfunc BenchmarkScan(b *testing.B) {}\n'

  it('uses go test and go bench', () => {
    const files = { ...MODULE, 'go.sum': '', 'parse.go': 'package parse\n', 'parse_test.go': BENCH }
    expect(commandsIn(files)).toEqual({
      setup: 'go mod download',
      test: 'go test ./...',
      bench: "go test -run '^$' -bench . -benchtime 100ms .",
    })
    expect(found(files).bench).toMatchObject({ output: 'go', metric: { name: 'geomean_ns_per_op' } })
    expect(found(files)).toMatchObject({ mutable: ['**/*.go'], immutable: ['**/*_test.go'] })
  })

  it('measures only the package with benchmarks', () => {
    const one = { ...MODULE, 'a/a.go': '', 'a/a_test.go': BENCH }
    expect(commandsIn(one).bench).toBe("go test -run '^$' -bench . -benchtime 100ms ./a")
    expect(commandsIn({ ...one, 'b/b_test.go': BENCH }).bench).toBe(
      "go test -run '^$' -bench . -benchtime 100ms ./...",
    )
    expect(commandsIn({ ...MODULE, 'a.go': '', 'vendor/x/x_test.go': BENCH }).bench).toBeNull()
  })

  it.each([
    [
      'package parse\nfunc Table() []int {\n',
      { kind: 'function', module: 'example.com/parse', name: 'Table' },
    ],
    ['package parse\nfunc Serve() error {\n', null],
    ['package parse\nfunc Reset() {\n', null],
    ['package main\nfunc main() {\n', { kind: 'program', command: '.' }],
  ])('has an entry function if one takes no arguments and returns a value: %j', (source, entry) => {
    expect(found({ ...MODULE, 'parse.go': source }).entry).toEqual(entry)
  })
})

describe('a Rust crate', () => {
  const CRATE = {
    'Cargo.toml': '[package]\nname = "my-parse"\n',
    'src/lib.rs': 'pub fn table() -> u8 { 1 }\n',
  }

  it('builds, tests and measures with the locked versions', () => {
    const files = { ...CRATE, 'Cargo.lock': '', 'benches/parse.rs': '' }
    expect(commandsIn(files)).toEqual({
      setup: 'cargo bench --no-run --locked',
      test: 'cargo test --quiet --locked',
      bench: 'cargo bench --locked --bench parse',
    })
    expect(found(files).bench).toMatchObject({ output: 'cargo', metric: { name: 'geomean_ns_per_iter' } })
  })

  it('measures every declared bench', () => {
    const manifest = '[package]\nname = "a"\n[[bench]]\nname = "x"\nharness = false\n[[bench]]\nname = "y"\n'
    expect(commandsIn({ ...CRATE, 'Cargo.toml': manifest }).bench).toBe('cargo bench --benches')
  })

  it('has a function, a library or a program as entry', () => {
    expect(found(CRATE).entry).toEqual({ kind: 'function', module: 'my-parse', name: 'table' })
    const library = { ...CRATE, 'src/lib.rs': 'pub fn run() -> u8 { 1 }\n' }
    expect(found(library).entry).toEqual({ kind: 'module', path: 'my-parse' })
    const program = { 'Cargo.toml': CRATE['Cargo.toml'], 'src/main.rs': '' }
    expect(found(program).entry).toEqual({ kind: 'program', command: 'target/release/my-parse' })
  })

  it('notes that experiments may change tests inside src/', () => {
    const files = { ...CRATE, 'src/lib.rs': '#[test]\nfn a() {}\n' }
    expect(found(files).notes).toEqual([expect.stringContaining('tests inside src/')])
  })
})

describe('a Java project', () => {
  it('uses Maven, and its wrapper if there is one', () => {
    const files = { 'pom.xml': '', 'src/main/java/a/P.java': '', 'src/test/java/a/PTest.java': '' }
    expect(commandsIn(files)).toEqual({
      setup: 'mvn -q -B -DskipTests package',
      test: 'mvn -q -B test',
      bench: null,
    })
    expect(commandsIn({ ...files, mvnw: '' }).test).toBe('./mvnw -q -B test')
    expect(found(files)).toMatchObject({ mutable: ['src/main/'], interpreter: 'java -cp target/classes' })
  })

  it('builds a module from the top together with the modules that it needs', () => {
    const files = {
      'pom.xml': '',
      'core/pom.xml': '',
      'core/src/main/java/P.java': '',
      'core/src/test/java/T.java': '',
    }
    expect(commandsIn(files, 'core').test).toBe('cd .. && mvn -q -B -pl core -am test')
    expect(commandsIn({ ...files, mvnw: '' }, 'core').test).toBe('cd .. && ./mvnw -q -B -pl core -am test')
  })

  it('runs the wrapper only in the directory that has it', () => {
    const files = {
      'pom.xml': '',
      'libs/mvnw': '',
      'libs/core/pom.xml': '',
      'libs/core/src/main/java/P.java': '',
    }
    expect(commandsIn(files, 'libs/core').setup).toMatch(/^cd \.\.\/\.\. && mvn -q -B -pl libs\/core -am /)
  })

  it('uses Gradle', () => {
    const files = {
      'build.gradle.kts': '',
      gradlew: '',
      'src/main/java/P.java': '',
      'src/test/java/T.java': '',
    }
    expect(commandsIn(files)).toMatchObject({
      setup: './gradlew --quiet --no-daemon classes',
      test: './gradlew --quiet --no-daemon test',
    })
  })

  it('runs a benchmark from its source file', () => {
    const files = { 'pom.xml': '', 'src/main/java/P.java': '', 'bench/Run.java': '' }
    expect(commandsIn(files).bench).toBe('java -cp target/classes bench/Run.java')
    expect(commandsIn({ 'pom.xml': '', 'bench/run.sh': '' }).bench).toBe('sh bench/run.sh')
  })

  it('has a static method or a main class as entry', () => {
    const at = (source: string) => found({ 'pom.xml': '', 'src/main/java/a/P.java': source }).entry
    expect(at('public static String all() {')).toEqual({ kind: 'function', module: 'a.P', name: 'all' })
    expect(at('public static void main(String[] args) {')).toEqual({
      kind: 'program',
      command: 'java -cp target/classes a.P',
    })
  })
})
