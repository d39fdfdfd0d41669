import { type Project, project } from './project.ts'

/** A file of this many milliseconds, and a harness that reads it with noise of up to so many thousandths. */
export const NOISY_SPEC = [
  'winnow: 1',
  'metric: { primary: { name: ms, direction: minimize } }',
  'measurement: { command: sh bench/ms.sh, probes: off }',
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

/** The two copies lie in folders of their own, and in one of them everything is a tenth slower, in every job. */
export function unfairProject(): Project {
  return noisyProject({
    spec: text => text.replace('bench/ms.sh', 'bench/ms.sh, mode: paired, env: [HOME]'),
    files: {
      'bench/ms.sh': `[ -e "$HOME/slower" ] || ls -di . > "$HOME/slower"
if [ "$(ls -di .)" = "$(cat "$HOME/slower")" ]; then echo '{"ms": 1100}'; else echo '{"ms": 1000}'; fi
`,
    },
  })
}
