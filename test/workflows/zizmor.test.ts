import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SETUP_ACTION } from '../../src/init/workflows/files.ts'
import { everyFile, HAND_WRITTEN, NODE, PROJECTS, readOwnFile, written } from './written.ts'
import { auditFile, AUDITS, isIgnored, listIgnores } from './zizmor.ts'

const ROOT = new URL('../..', import.meta.url).pathname

const files = [
  ...everyFile(),
  ...written(
    [['propose: [{ use: command, preset: claude }, { use: command, preset: aider, name: b }]']],
    NODE,
  ).map(file => ({ ...file, of: 'agents' })),
  ...written([[]], PROJECTS['bun'] ?? NODE).map(file => ({ ...file, of: 'bun' })),
  ...[...HAND_WRITTEN, SETUP_ACTION, 'action.yml', '.github/dependabot.yml'].map(path => ({
    ...readOwnFile(path),
    of: 'this repository',
  })),
]

/** Findings that are accepted, each beside why; the same stands in a comment in the file itself. */
const ACCEPTED: Readonly<Record<string, string>> = {
  'dangerous-triggers':
    'pull_request_target tells that an idea arrived, forks included: the job that it starts checks out the default branch, runs winnow alone, and treats heads as data',
  'concurrency-limits':
    'jobs that decide wait for one another; jobs that measure must not, and a group for the whole workflow would cancel measurements',
  'self-repository':
    '$/ is the commit of the workflow file, which is that of the campaign in a measuring run: the set-up has to be that of the default branch, and $/ with no path is refused by the runner',
  'self-hosted-runner': 'the spec asks for that runner',
  'unpinned-images': 'the spec asks for these service containers',
  'adhoc-packages': 'agents are installed in the version that their owner names in a file that is theirs',
}

describe('the audits of zizmor', () => {
  it('are all of them', () => {
    expect(Object.keys(AUDITS).join(' ')).toBe(
      'adhoc-packages anonymous-definition archived-uses artipacked bot-conditions cache-poisoning ' +
        'concurrency-limits dangerous-triggers dependabot-cooldown dependabot-execution ' +
        'excessive-permissions forbidden-uses github-app github-env hardcoded-container-credentials ' +
        'impostor-commit insecure-commands insecure-url-scheme known-vulnerable-actions misfeature ' +
        'obfuscation overprovisioned-secrets ref-confusion ref-version-mismatch secrets-inherit ' +
        'secrets-outside-env self-hosted-runner self-repository stale-action-refs superfluous-actions ' +
        'template-injection typosquat-uses undocumented-permissions unpinned-images unpinned-tools ' +
        'unpinned-uses unredacted-secrets unsound-condition unsound-contains unsound-ternary ' +
        'use-trusted-publishing',
    )
    expect(existsSync(join(ROOT, '.pre-commit-config.yaml'))).toBe(false)
  })

  it.each(files.map(file => [`${file.of}: ${file.path}`, file] as const))(
    'find nothing in %s but what is accepted, with its reason beside it',
    (_name, file) => {
      const open = auditFile(file).filter(finding => !isIgnored(file, finding))
      expect(open).toEqual([])
      const found = new Set(auditFile(file).map(({ audit }) => audit))
      expect(Object.keys(ACCEPTED)).toEqual(expect.arrayContaining([...found]))
      for (const { audits, reason } of listIgnores(file)) {
        expect(reason).toMatch(/\w+ \w+ \w+/)
        expect([...found]).toEqual(expect.arrayContaining(audits))
      }
    },
  )

  it('accept nothing that is not there', () => {
    const found = new Set(files.flatMap(file => auditFile(file).map(({ audit }) => audit)))
    expect([...found].toSorted()).toEqual(Object.keys(ACCEPTED).toSorted())
  })
})

const PIN = `actions/checkout@${'a'.repeat(40)}`

/** A sound workflow with one job of these lines. */
const job = (lines: string, above = '') => ({
  path: '.github/workflows/a.yml',
  text: `name: a
on: { push: { branches: [main] } }
permissions: {}
concurrency: { group: a, cancel-in-progress: true }
${above}
jobs:
  a:
    name: a
    runs-on: ubuntu-24.04
    permissions: { contents: read }
${lines}`,
})
const step = (lines: string) => job(`    steps:\n      - ${lines.replaceAll('\n', '\n        ')}\n`)
const expression = (content: string) => '$' + `{{ ${content} }}`
const dependabot = (lines: string) => ({
  path: '.github/dependabot.yml',
  text: `version: 2\nupdates:\n  - package-ecosystem: npm\n    ${lines}\n`,
})

/** What each audit is there to find; after it, the like that is fine. */
const EXAMPLES: Readonly<
  Record<string, readonly [bad: { path: string; text: string }[], good: { path: string; text: string }]>
> = {
  'adhoc-packages': [
    [step('run: npm install --global left-pad'), step('run: cd a && gem i rake'), step('run: pnpm add x')],
    step('run: npm install --ignore-scripts'),
  ],
  'anonymous-definition': [
    [
      { path: 'a.yml', text: 'on: push\npermissions: {}\njobs: {}\n' },
      { path: 'a.yml', text: 'name: a\non: push\njobs: { a: { runs-on: b } }\n' },
      { path: 'action.yml', text: 'runs: { using: composite, steps: [] }\n' },
    ],
    job(''),
  ],
  artipacked: [
    [step(`uses: ${PIN}`), step(`uses: ${PIN}\nwith: { persist-credentials: true }`)],
    step(`uses: ${PIN}\nwith: { persist-credentials: false }`),
  ],
  'bot-conditions': [
    [
      job("    if: github.actor == 'dependabot[bot]'\n"),
      step("if: github.event.pull_request.user.login == 'renovate[bot]'\nrun: a"),
    ],
    job("    if: github.ref == 'refs/heads/main'\n"),
  ],
  'cache-poisoning': [
    [
      step(`uses: actions/cache@${'a'.repeat(40)}`),
      step(`uses: actions/cache/restore@${'a'.repeat(40)}`),
      step(`uses: actions/setup-node@${'a'.repeat(40)}`),
      step(`uses: actions/setup-go@${'a'.repeat(40)}\nwith: { go-version: '1' }`),
      step(`uses: actions/setup-python@${'a'.repeat(40)}\nwith: { cache: pip }`),
    ],
    step(`uses: actions/setup-node@${'a'.repeat(40)}\nwith: { package-manager-cache: false }`),
  ],
  'concurrency-limits': [
    [
      { path: 'a.yml', text: 'on: push\nconcurrency: a\njobs: {}\n' },
      { path: 'a.yml', text: 'on: push\njobs: { a: { runs-on: b } }\n' },
      { path: 'a.yml', text: 'on: push\njobs: { a: { concurrency: b } }\n' },
    ],
    job(''),
  ],
  'dangerous-triggers': [
    [
      { path: 'a.yml', text: 'on: { pull_request_target: {} }\njobs: {}\n' },
      { path: 'a.yml', text: 'on: { workflow_run: { workflows: [b] } }\njobs: {}\n' },
    ],
    job(''),
  ],
  'dependabot-cooldown': [
    [dependabot('schedule: { interval: weekly }'), dependabot('cooldown: { default-days: 2 }')],
    dependabot('cooldown: { default-days: 7 }'),
  ],
  'dependabot-execution': [
    [dependabot('insecure-external-code-execution: allow')],
    dependabot('insecure-external-code-execution: deny'),
  ],
  'excessive-permissions': [
    [
      { path: 'a.yml', text: 'on: push\njobs: {}\n' },
      { path: 'a.yml', text: 'on: push\npermissions: { contents: write }\njobs: {}\n' },
      { path: 'a.yml', text: 'on: push\npermissions: read-all\njobs: {}\n' },
      { path: 'a.yml', text: 'on: push\npermissions: {}\njobs: { a: { permissions: write-all } }\n' },
      { path: 'a.yml', text: 'on: push\npermissions: {}\njobs: { a: { runs-on: b } }\n' },
    ],
    job(''),
  ],
  'forbidden-uses': [[step(`uses: somebody/else@${'a'.repeat(40)}`)], step(`uses: ${PIN}`)],
  'github-app': [
    [
      step(`uses: actions/create-github-app-token@${'a'.repeat(40)}\nwith: { app-id: 1 }`),
      step(
        `uses: actions/create-github-app-token@${'a'.repeat(40)}\nwith: { owner: a, permission-contents: read }`,
      ),
      step(
        `uses: actions/create-github-app-token@${'a'.repeat(40)}\nwith: { permission-contents: read, skip-token-revoke: true }`,
      ),
    ],
    step(`uses: actions/create-github-app-token@${'a'.repeat(40)}\nwith: { permission-contents: read }`),
  ],
  'github-env': [
    [step('run: echo "A=$B" >> "$GITHUB_ENV"'), step('run: echo a | tee $GITHUB_PATH')],
    step('run: echo a >> "$GITHUB_OUTPUT"'),
  ],
  'hardcoded-container-credentials': [
    [
      job('    container: { image: a, credentials: { username: a, password: b } }\n'),
      job('    services: { db: { image: a, credentials: { username: a, password: b } } }\n'),
    ],
    job(
      `    container: { image: a, credentials: { username: a, password: '${expression('secrets.A')}' } }\n`,
    ),
  ],
  'insecure-commands': [[job('    env: { ACTIONS_ALLOW_UNSECURE_COMMANDS: true }\n')], job('')],
  misfeature: [
    [
      step(`uses: actions/setup-python@${'a'.repeat(40)}\nwith: { pip-install: a }`),
      step('shell: cmd\nrun: a'),
      step('shell: perl {0}\nrun: a'),
    ],
    step('shell: bash\nrun: a'),
  ],
  obfuscation: [
    [
      step(`uses: actions/cache/save/../save@${'a'.repeat(40)}`),
      step(`uses: actions//checkout@${'a'.repeat(40)}`),
      step(`run: echo ${expression("'a'")}`),
    ],
    step(`uses: ${PIN}`),
  ],
  'overprovisioned-secrets': [
    [
      step(`env: { A: '${expression('toJSON(secrets)')}' }\nrun: a`),
      step(`env: { A: "${expression("secrets['A']")}" }\nrun: a`),
    ],
    step(`env: { A: '${expression('secrets.A')}' }\nrun: a`),
  ],
  'ref-version-mismatch': [
    [step(`uses: ${PIN} # v6.0.2`), step(`uses: actions/checkout@v6`)],
    step('uses: actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2'),
  ],
  'secrets-inherit': [
    [job('    secrets: inherit\n')],
    job(`    secrets: { A: '${expression('secrets.A')}' }\n`),
  ],
  'secrets-outside-env': [
    [step(`env: { A: '${expression('secrets.A')}' }\nrun: a`)],
    step(`env: { A: '${expression('secrets.GITHUB_TOKEN')}' }\nrun: a`),
  ],
  'self-hosted-runner': [
    ['self-hosted', '[self-hosted, big]', '{ group: big }', `'${expression('inputs.runner')}-big'`].map(
      on => ({
        path: 'a.yml',
        text: `on: push\njobs:\n  a:\n    runs-on: ${on}\n`,
      }),
    ),
    job(''),
  ],
  'self-repository': [[step('uses: ./tools')], step('uses: $/tools')],
  'superfluous-actions': [
    [step(`uses: softprops/action-gh-release@${'a'.repeat(40)}`)],
    step(`uses: ${PIN}`),
  ],
  'template-injection': [
    [
      step(`run: echo ${expression('github.event.issue.title')}`),
      step(`uses: actions/github-script@${'a'.repeat(40)}\nwith: { script: 'a(${expression('inputs.b')})' }`),
    ],
    step('run: echo "$TITLE"'),
  ],
  'undocumented-permissions': [
    [{ path: 'a.yml', text: 'on: push\njobs:\n  a:\n    permissions:\n      issues: write\n' }],
    { path: 'a.yml', text: 'on: push\njobs:\n  a:\n    permissions:\n      issues: write # to react\n' },
  ],
  'unpinned-images': [
    [
      job('    container: node\n'),
      job('    container: { image: "node:24" }\n'),
      job('    services: { db: { image: "postgres:latest" } }\n'),
      step('uses: docker://alpine:3'),
    ],
    job(`    container: node@sha256:${'a'.repeat(64)}\n`),
  ],
  'unpinned-tools': [
    [
      step(`uses: aquasecurity/setup-trivy@${'a'.repeat(40)}`),
      step(`uses: 1password/load-secrets-action@${'a'.repeat(40)}\nwith: { version: latest }`),
    ],
    step(`uses: aquasecurity/setup-trivy@${'a'.repeat(40)}\nwith: { version: v1.2.3 }`),
  ],
  'unpinned-uses': [
    [
      step('uses: actions/checkout@v6'),
      step('uses: actions/checkout'),
      job('    uses: a/b/.github/workflows/c.yml@main\n'),
    ],
    step(`uses: ${PIN}`),
  ],
  'unredacted-secrets': [
    [step(`env: { A: '${expression('fromJSON(secrets.A).b')}' }\nrun: a`)],
    step(`env: { A: '${expression('secrets.A')}' }\nrun: a`),
  ],
  'unsound-condition': [
    [
      job(`    if: |\n      ${expression('github.ref == 1')}\n`),
      step(`if: ${expression('success()')} && true\nrun: a`),
    ],
    step(`if: ${expression('success()')}\nrun: a`),
  ],
  'unsound-contains': [
    [job("    if: contains('refs/heads/main refs/heads/dev', github.ref)\n")],
    job(`    if: contains(fromJSON('["refs/heads/main"]'), github.ref)\n`),
  ],
  'unsound-ternary': [
    [
      step(`env: { A: "${expression("inputs.a && '' || 'b'")}" }\nrun: a`),
      job('    if: inputs.a && false || inputs.b\n'),
    ],
    step(`env: { A: "${expression("inputs.a && 'a' || ''")}" }\nrun: a`),
  ],
  'use-trusted-publishing': [
    [
      step('run: npm publish'),
      step(`uses: pypa/gh-action-pypi-publish@${'a'.repeat(40)}\nwith: { password: a }`),
    ],
    step('run: npm pack'),
  ],
}

describe('each audit', () => {
  const findsIn = (file: { path: string; text: string }) => auditFile(file).map(({ audit }) => audit)

  it('that is a check has examples', () => {
    const checks = Object.entries(AUDITS).flatMap(([audit, check]) =>
      typeof check === 'string' ? [] : [audit],
    )
    expect(Object.keys(EXAMPLES)).toEqual(checks)
  })

  it('that is none has a reason', () => {
    for (const check of Object.values(AUDITS)) {
      if (typeof check === 'string') expect(check).toMatch(/^(?:\S+ ){5}/)
    }
  })

  it.each(Object.entries(EXAMPLES))('finds what it is for: %s', (audit, [bad, good]) => {
    for (const file of bad) expect(findsIn(file), file.text).toContain(audit)
    expect(findsIn(good), good.text).not.toContain(audit)
  })

  it('can be told to leave something out, where it is and nowhere else', () => {
    const text = (first: string, second: string) =>
      step(`run: npm i -g a${first}`).text.replace('    steps:', `    steps:\n      - run: b${second}`)
    const ignored = ' # zizmor: ignore[adhoc-packages] for a reason'
    for (const [first, second, isTold] of [
      [ignored, '', true],
      ['', ignored, false],
      [ignored.replace('adhoc-packages', 'artipacked'), '', false],
    ] as const) {
      const file = { path: 'a.yml', text: text(first, second) }
      const [finding] = auditFile(file).filter(({ audit }) => audit === 'adhoc-packages')
      expect(finding !== undefined && isIgnored(file, finding), file.text).toBe(isTold)
    }
  })
})
