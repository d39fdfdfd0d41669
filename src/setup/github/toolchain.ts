import type { Detected } from '../detect.ts'
import type { Language, Yard } from '../findings.ts'
import { CLONE_DIRECTORY } from './action-reference.ts'
import { type PinnedAction, pinned } from './pins.ts'

/** What a runner's image has not got, or has in another version than the project says. */
export interface Toolchain {
  steps: string[]
  /** What the package manager downloads into, and the files that say what it downloads. */
  cache: { paths: string[]; locks: string[] } | null
}

type Found = Pick<Toolchain, 'cache'> & { uses?: string; run?: string }
type Place = { at: (...names: string[]) => string | null; manager: string | null }

const BY_LANGUAGE: Readonly<Record<Language, (place: Place) => Found>> = {
  node: ({ at, manager }) => ({
    uses: setUp(
      'actions/setup-node',
      'Node',
      version(at('.nvmrc', '.node-version', '.tool-versions'), 'node-version', 'lts/*'),
      [
        'package-manager-cache: false', // it would keep what an experiment left there
      ],
    ),
    ...nodeManager(manager),
  }),
  python: ({ at, manager }) => ({
    uses: setUp('actions/setup-python', 'Python', version(at('.python-version'), 'python-version', '3.x')),
    ...(manager === 'uv' || manager === 'poetry' || manager === 'pipenv'
      ? { run: `pipx install ${manager}` }
      : {}),
    cache:
      manager === 'uv'
        ? { paths: ['~/.cache/uv'], locks: ['uv.lock'] }
        : { paths: ['~/.cache/pip'], locks: ['requirements*.txt', 'poetry.lock', 'Pipfile.lock'] },
  }),
  go: ({ at }) => ({
    uses: setUp('actions/setup-go', 'Go', version(at('go.work', 'go.mod'), 'go-version', 'stable'), [
      'cache: false',
    ]),
    cache: { paths: ['~/go/pkg/mod'], locks: ['go.sum'] },
  }),
  rust: () => ({
    run: 'rustup show active-toolchain || rustup toolchain install stable --profile minimal',
    cache: { paths: ['~/.cargo/registry', '~/.cargo/git'], locks: ['Cargo.lock'] },
  }),
  java: ({ at, manager }) => ({
    uses: setUp('actions/setup-java', 'Java', [
      'distribution: temurin',
      ...version(at('.java-version'), 'java-version', '21'),
    ]),
    cache:
      manager === 'maven'
        ? { paths: ['~/.m2/repository'], locks: ['pom.xml'] }
        : { paths: ['~/.gradle/caches'], locks: ['*.gradle', '*.gradle.kts', 'gradle.lockfile'] },
  }),
  c: () => ({ run: 'cc --version', cache: null }),
  ruby: () => ({ run: 'ruby --version && bundle --version', cache: null }),
  shell: () => ({ run: 'bash --version', cache: null }),
}

export function toolchainOf(
  { findings }: Pick<Detected, 'findings'>,
  { repository, directory }: Yard,
): Toolchain {
  const places = directory === '' ? [''] : [`${directory}/`, '']
  const at = (...names: string[]) => {
    const candidates = places.flatMap(place => names.map(name => `${place}${name}`))
    return candidates.find(path => repository.paths.includes(path)) ?? null
  }
  const { uses, run, cache } = BY_LANGUAGE[findings.language]({ at, manager: findings.manager })
  const installs =
    run === undefined
      ? []
      : [`    - name: See to ${findings.manager ?? findings.language}\n      shell: bash\n      run: ${run}`]
  return { steps: [...(uses === undefined ? [] : [uses]), ...installs], cache }
}

function setUp(action: PinnedAction, what: string, ...inputs: string[][]): string {
  const lines = inputs.flat().map(line => `        ${line}`)
  return [`    - name: Set up ${what}`, `      uses: ${pinned(action)}`, '      with:', ...lines].join('\n')
}

/** The project's own word for its version, or one that is always there. */
function version(file: string | null, input: string, otherwise: string): string[] {
  return file === null
    ? [`${input}: '${otherwise}'`]
    : [`${input}-file: ${JSON.stringify(`${CLONE_DIRECTORY}/${file}`)}`]
}

function nodeManager(manager: string | null): Omit<Found, 'uses'> {
  if (manager === 'pnpm')
    return {
      run: 'corepack enable pnpm',
      cache: { paths: ['~/.local/share/pnpm/store'], locks: ['pnpm-lock.yaml'] },
    }
  if (manager === 'yarn')
    return { run: 'corepack enable yarn', cache: { paths: ['~/.yarn/berry/cache'], locks: ['yarn.lock'] } }
  if (manager === 'bun')
    return {
      run: 'npm install --global bun',
      cache: { paths: ['~/.bun/install/cache'], locks: ['bun.lock*'] },
    }
  return { cache: { paths: ['~/.npm'], locks: ['package-lock.json', 'npm-shrinkwrap.json'] } }
}
