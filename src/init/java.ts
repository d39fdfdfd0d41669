import { findBenchmark } from './benchmarks.ts'
import type { HarnessTemplate, SkeletonRequest } from './harness.ts'
import {
  type Detection,
  type EntryPoint,
  findNearestAbove,
  listSourceFiles,
  type ProjectFiles,
  type ProjectLocation,
  runAbove,
} from './project.ts'

export function detectJava(project: ProjectLocation): Detection | null {
  const { files } = project
  const tool = findJavaTool(project)
  if (tool === null) return null
  const sources = listSourceFiles(files, /\.(?:java|kt|scala)$/)
  const tested = files.paths.some(path => path.startsWith('src/test/'))
  const interpreter = `java -cp ${tool.classes}`
  const kotlin = sources.find(path => path.startsWith('src/main/kotlin/'))
  return {
    manager: tool.name,
    setup: { command: tool.build, from: tool.from },
    test: tested ? { command: tool.test, from: 'src/test/' } : null,
    bench: findBenchmark(files, /\.(?:java|sh)$/, interpreter).bench,
    mutable: [kotlin !== undefined && !sources.some(isJava) ? 'src/main/kotlin/' : 'src/main/'],
    entry: findJavaEntry(files, sources, tool.classes),
    interpreter,
    weight: sources.length,
  }
}

function isJava(path: string): boolean {
  return path.endsWith('.java')
}

function findJavaTool(project: ProjectLocation) {
  const { files, repository, directory } = project
  if (files.paths.includes('pom.xml')) {
    const wrapper = findNearestAbove(project, ['mvnw'])
    // Builds a module of a larger build from the top, together with the modules it needs.
    const isModule = directory !== '' && repository.paths.includes('pom.xml') && wrapper?.steps !== 0
    const steps = isModule ? directory.split('/').length : 0
    const start = wrapper?.steps === steps ? './mvnw' : 'mvn'
    const module = isModule ? ` -pl ${directory} -am` : ''
    const run = (goal: string) => runAbove(steps, `${start} -q -B${module} ${goal}`)
    const build = run('-DskipTests package')
    return { name: 'maven', classes: 'target/classes', build, test: run('test'), from: 'pom.xml' }
  }
  const from = ['build.gradle', 'build.gradle.kts'].find(name => files.paths.includes(name))
  if (from === undefined) return null
  const wrapper = findNearestAbove(project, ['gradlew'])
  const start = wrapper === null ? 'gradle' : `./${'../'.repeat(wrapper.steps)}gradlew`
  const run = (task: string) => `${start} --quiet --no-daemon ${task}`
  const classes = 'build/classes/java/main'
  return { name: 'gradle', classes, build: run('classes'), test: run('test'), from }
}

/** Prefers a static method without arguments, then the main class. */
function findJavaEntry(files: ProjectFiles, sources: readonly string[], classes: string): EntryPoint | null {
  const known = sources.filter(isJava).map(path => ({ path, text: files.text(path) ?? '' }))
  for (const { path, text } of known) {
    const name = /public static (?!void\b)[\w<>[\], ]+ ((?!run|serve|start)\w+)\(\)/.exec(text)?.[1]
    const type = toClassName(path)
    if (name !== undefined && type !== null) return { kind: 'function', module: type, name }
  }
  const main = known.find(({ text }) => /public static void main\(/.test(text))
  const type = main === undefined ? null : toClassName(main.path)
  return type === null ? null : { kind: 'program', command: `java -cp ${classes} ${type}` }
}

function toClassName(path: string): string | null {
  return /^src\/main\/java\/(.+)\.java$/.exec(path)?.[1]?.replaceAll('/', '.') ?? null
}

// Harness

export function buildJavaHarness({ name, entry, interpreter }: SkeletonRequest): HarnessTemplate {
  const type = name.replaceAll(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  const className = /^\d/.test(type) ? `Bench${type}` : type
  const path = `bench/${className}.java`
  return {
    path,
    command: `${interpreter} ${path}`,
    commentSign: '//',
    exampleCall: 'return MyParser.parse(input);',
    render: (head, workload) => `${head}
import java.util.Arrays;

public class ${className} {
${workload.replaceAll(/^/gm, '    ')}
    static Object workload() throws Exception {
${renderJavaBody(entry)}
    }
    // ================================

    static Object answer;

    /** Milliseconds of that many calls. */
    static double took(int calls) throws Exception {
        long start = System.nanoTime();
        for (int call = 0; call < calls; call++) answer = workload();
        return (System.nanoTime() - start) / 1e6;
    }

    public static void main(String[] args) throws Exception {
        int calls = 1;
        while (took(calls) < 5) calls *= 2;
        double[] times = new double[15];
        for (int round = 0; round < times.length; round++) times[round] = took(calls) / calls;
        Arrays.sort(times);
        int output = String.valueOf(answer).length();
        System.out.println("{\\"milliseconds\\": " + times[7] + ", \\"output_bytes\\": " + output + "}");
    }
}
`,
  }
}

function renderJavaBody(entry: EntryPoint | null): string {
  if (entry?.kind === 'function') return `        return ${entry.module}.${entry.name}();`
  if (entry?.kind === 'program') {
    const words = [...entry.command.split(' '), '--help'].map(word => `"${word}"`).join(', ')
    return [
      `        Process process = new ProcessBuilder(${words}).redirectErrorStream(true).start();`,
      '        return new String(process.getInputStream().readAllBytes());',
    ].join('\n')
  }
  return [
    '        int[] numbers = new int[10_000];',
    '        for (int i = 0; i < numbers.length; i++) numbers[i] = i * 7919 % 10_007;',
    '        Arrays.sort(numbers);',
    '        return Arrays.toString(numbers);',
  ].join('\n')
}
