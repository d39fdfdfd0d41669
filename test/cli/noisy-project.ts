import { type Project, project } from './project.ts'

/** A file of this many milliseconds, and a harness that reads it with noise of up to so many thousandths. */
export const NOISY_SPEC = [
  'winnow: 1',
  'metric: { primary: { name: ms, direction: minimize } }',
  'measurement: { command: sh bench/ms.sh }',
  'gates: [{ name: tests, command: test -s src/ms }]',
  'scope: { mutable: [src/] }',
  '',
].join('\n')

function noisyHarness(thousandths: number): string {
  return `random=$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')
printf '{"ms": %s}' "$(( $(cat src/ms) + $(cat src/ms) * random * ${thousandths} / 65536000 ))"
`
}

export interface Noisy {
  thousandths?: number
  spec?: (text: string) => string
  files?: Record<string, string>
}

export function noisyProject({ thousandths = 60, spec = text => text, files = {} }: Noisy = {}): Project {
  return project({
    '.winnow/ms.yaml': spec(NOISY_SPEC),
    'bench/ms.sh': noisyHarness(thousandths),
    'src/ms': '1000000\n',
    ...files,
  })
}

/** Each copy that is built is told apart by the number it gets: every second one is a tenth slower. */
export function unfairProject(): Project {
  const setup = 'n=$(($(cat "$HOME/built" || echo 0) + 1)); echo $n > "$HOME/built"; echo $n > number'
  return noisyProject({
    spec: text => text.replace('ms.sh }', `ms.sh, mode: paired, setup: '${setup}' }`),
    files: {
      'bench/ms.sh': 'printf \'{"ms": %s}\' "$((1000 + $(cat number) % 2 * 100))"\n',
      '.gitignore': 'number\n',
    },
  })
}
