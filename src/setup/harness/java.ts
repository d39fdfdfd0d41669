import type { Entry } from '../findings.ts'
import type { Skeleton, SkeletonOf } from './skeleton.ts'
import { calledText, headComment, workloadComment } from './words.ts'

export function javaHarness({ name, entry, interpreter }: SkeletonOf): Skeleton {
  const type = name.replaceAll(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  const className = /^\d/.test(type) ? `Bench${type}` : type
  const path = `bench/${className}.java`
  const command = `${interpreter} ${path}`
  const files = [{ path, text: text(command, className, entry) }]
  return { files, edit: path, command, build: null, calls: calledText(entry) }
}

function text(command: string, className: string, entry: Entry | null): string {
  return `${headComment('//', command)}
import java.util.Arrays;

public class ${className} {
${indented(workloadComment('//', 'return MyParser.parse(input);', entry))}
    static Object workload() throws Exception {
${bodyOf(entry)}
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

function indented(text: string): string {
  return text.replaceAll(/^/gm, '    ')
}

function bodyOf(entry: Entry | null): string {
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
