import type { EntryPoint } from '../findings.ts'
import type { Skeleton, SkeletonRequest } from './skeleton.ts'
import { describeEntry, renderHeadComment, renderWorkloadComment } from './words.ts'

export function buildJavaHarness({ name, entry, interpreter }: SkeletonRequest): Skeleton {
  const type = name.replaceAll(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  const className = /^\d/.test(type) ? `Bench${type}` : type
  const path = `bench/${className}.java`
  const command = `${interpreter} ${path}`
  const files = [{ path, text: renderJavaSource(command, className, entry) }]
  return { files, edit: path, command, build: null, calls: describeEntry(entry) }
}

function renderJavaSource(command: string, className: string, entry: EntryPoint | null): string {
  return `${renderHeadComment('//', command)}
import java.util.Arrays;

public class ${className} {
${indentSource(renderWorkloadComment('//', 'return MyParser.parse(input);', entry))}
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
`
}

function indentSource(text: string): string {
  return text.replaceAll(/^/gm, '    ')
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
