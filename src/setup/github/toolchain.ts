import type { DetectedProject } from '../detect.ts'
import type { Language, ProjectLocation } from '../findings.ts'
import { CLONE_DIRECTORY } from './action-reference.ts'
import { type PinnedAction, formatPinnedAction } from './pins.ts'

/** Steps that set up what the image of a runner lacks, or has in another version than the project names. */
export interface Toolchain {
  steps: string[]
}

type ToolchainSteps = { uses?: string; run?: string }
type ToolchainContext = { at: (...names: string[]) => string | null; manager: string | null }

const BY_LANGUAGE: Readonly<Record<Language, (place: ToolchainContext) => ToolchainSteps>> = {
  node: ({ at, manager }) => ({
    uses: renderSetUpStep(
      'actions/setup-node',
      'Node',
      renderVersionInput(at('.nvmrc', '.node-version', '.tool-versions'), 'node-version', 'lts/*'),
      ['package-manager-cache: false'], // it would keep what an experiment left there
    ),
    ...installNodeManager(manager),
  }),
  python: ({ at, manager }) => ({
    uses: renderSetUpStep(
      'actions/setup-python',
      'Python',
      renderVersionInput(at('.python-version'), 'python-version', '3.x'),
    ),
    ...(manager === 'uv' || manager === 'poetry' || manager === 'pipenv'
      ? { run: `pipx install ${manager}` }
      : {}),
  }),
  go: ({ at }) => ({
    uses: renderSetUpStep(
      'actions/setup-go',
      'Go',
      renderVersionInput(at('go.work', 'go.mod'), 'go-version', 'stable'),
      ['cache: false'],
    ),
  }),
  rust: () => ({
    run: 'rustup show active-toolchain || rustup toolchain install stable --profile minimal',
  }),
  java: ({ at }) => ({
    uses: renderSetUpStep('actions/setup-java', 'Java', [
      'distribution: temurin',
      ...renderVersionInput(at('.java-version'), 'java-version', '21'),
    ]),
  }),
  c: () => ({ run: 'cc --version' }),
  ruby: () => ({ run: 'ruby --version && bundle --version' }),
  shell: () => ({ run: 'bash --version' }),
}

export function buildToolchain(
  { findings }: Pick<DetectedProject, 'findings'>,
  { repository, directory }: ProjectLocation,
): Toolchain {
  const places = directory === '' ? [''] : [`${directory}/`, '']
  const at = (...names: string[]) => {
    const candidates = places.flatMap(place => names.map(name => `${place}${name}`))
    return candidates.find(path => repository.paths.includes(path)) ?? null
  }
  const { uses, run } = BY_LANGUAGE[findings.language]({ at, manager: findings.manager })
  const installs =
    run === undefined
      ? []
      : [`    - name: Set up ${findings.manager ?? findings.language}\n      shell: bash\n      run: ${run}`]
  return { steps: [...(uses === undefined ? [] : [uses]), ...installs] }
}

function renderSetUpStep(action: PinnedAction, what: string, ...inputs: string[][]): string {
  const lines = inputs.flat().map(line => `        ${line}`)
  return [
    `    - name: Set up ${what}`,
    `      uses: ${formatPinnedAction(action)}`,
    '      with:',
    ...lines,
  ].join('\n')
}

/** The project's own word for its version, or one that is always there. */
function renderVersionInput(file: string | null, input: string, otherwise: string): string[] {
  return file === null
    ? [`${input}: '${otherwise}'`]
    : [`${input}-file: ${JSON.stringify(`${CLONE_DIRECTORY}/${file}`)}`]
}

const ADHOC = ' # zizmor: ignore[adhoc-packages] name a version after an @ to pin it'

function installNodeManager(manager: string | null): Pick<ToolchainSteps, 'run'> {
  if (manager === 'pnpm' || manager === 'yarn') return { run: `corepack enable ${manager}` }
  if (manager === 'bun') return { run: `npm install --global bun${ADHOC}` }
  return {}
}
