import { describe, expect, test } from 'vitest'
import { AGENTS_ACTION, withDigest, WORKFLOW } from '../../src/init/workflows/files.ts'
import { SIZE_SPEC } from '../support/size-repository.ts'
import { onGithub, type OnGithub } from './on-github.ts'
import { releaseTest } from '../support/cases.ts'

const COMMIT = 'ab12'.repeat(10)
const ACTION = `o/winnow@${COMMIT} # v0.0.1`
const CI = 'on: { push: {}, pull_request: { types: [opened] } }\njobs: {}\n'
const QUIET = "on: { push: { branches-ignore: ['optimize*/**'] } }\njobs: {}\n"

/** The set-up of a maintainer, merged: GitHub knows its workflow, and the repository of its action. */
async function setUp(
  spec = '',
  ideas: readonly string[] = [],
): Promise<OnGithub & { says: (...more: string[]) => Promise<string> }> {
  const there = await onGithub(ideas, { spec })
  const { github, winnow, env } = there
  const page = `${github.url}/team/project`
  env['GH_ENTERPRISE_TOKEN'] = github.token('root', { permission: 'admin' })
  await winnow('init', '--github', '--open-pr', '--action', ACTION)
  there.git('update-ref', 'refs/heads/main', 'winnow-setup')
  github.world.workflowStates.set(WORKFLOW, 'active')
  github.world.others.set('o/winnow', { private: false, commits: [COMMIT], access: 'none' })
  const says = async (...more: string[]) =>
    (await winnow('doctor', ...more)).join('\n').replaceAll(page, '<page>').replaceAll(github.url, '<github>')
  return { ...there, says }
}

test('the doctor has one line where nothing is missing, and lists the rest only when asked', async () => {
  const { github, says, git, env } = await setUp()
  const branches = () => git('for-each-ref', '--format=%(refname)')
  const before = branches()
  const said = await says()
  // Of a server of our own: which artifacts it takes, nobody can ask it.
  expect(said).toMatch(
    /^No problem found; 1 thing to look at\.\n\n\?\? {2}\S+: upload-artifact v4 and newer \(up to v7\) refuse to run on an Enterprise Server/,
  )
  const all = await says('--all')
  for (const line of [
    'git \\d+\\.\\d+\\S* is new enough',
    'GitHub Actions may open pull requests',
    'every action that the workflow uses may run',
    'o/winnow has the commit that the workflow runs',
    "no rule blocks winnow's branches",
    '.github/workflows/winnow.yml is on',
    '.github/workflows/winnow.yml is up to date',
    'the clock is right',
  ])
    expect(all).toMatch(new RegExp(`^ok {2}${line}`, 'm'))
  env['GH_ENTERPRISE_TOKEN'] = github.token('eve', { permission: 'read' })
  expect(await says()).toContain('only administrators can see whether GitHub Actions may open pull requests')
  env['GH_ENTERPRISE_TOKEN'] = 'expired'
  expect(await says()).toMatch(/^Not ready: 1 thing to do/)
  expect(await says()).toContain('check the token')
  expect(branches()).toBe(before)
})

describe('of the settings the doctor says what to click where', () => {
  test('pull requests, Actions that are off, and actions that may not run', async () => {
    const { github, says } = await setUp()
    const { settings } = github.world
    settings.actionsMayOpenPulls = false
    expect(await says()).toContain(
      '!!  GitHub Actions may not open pull requests\n      <page>/settings/actions\n      Workflow permissions: tick "Allow GitHub Actions to create and approve pull requests", then Save',
    )
    settings.actionsMayOpenPulls = true
    settings.actions.enabled = false
    expect(await says()).toContain(
      '!!  GitHub Actions are off in this repository\n      <page>/settings/actions',
    )
    settings.actions = { enabled: true, allowed: 'local_only', patterns: [], githubs: false }
    expect(await says()).toMatch(/!! {2}actions\/checkout, o\/winnow, .* may not run in this repository/)
    settings.actions = { enabled: true, allowed: 'selected', patterns: ['x/*', 'O/w*@*'], githubs: false }
    const githubs = await says()
    expect(githubs).toContain('tick "Allow actions created by GitHub"')
    expect(githubs).not.toContain('o/winnow@*')
    settings.actions = { enabled: true, allowed: 'selected', patterns: ['!o/winnow@*', 'o/*'], githubs: true }
    expect(await says()).toContain('under "Allow or block specified actions" add: o/winnow@*')
    settings.actions = { enabled: true, allowed: 'selected', patterns: ['o/winnow@*'], githubs: true }
    expect(await says()).not.toContain('may not run')
  })

  releaseTest('a workflow that is off, and the variable that stops everything', async () => {
    const { github, says } = await setUp()
    github.world.workflowStates.set(WORKFLOW, 'disabled_inactivity')
    github.world.variables.set('WINNOW_PAUSED', 'true')
    const said = await says()
    expect(said).toContain(
      'winnow.yml is disabled (disabled_inactivity), so no event starts winnow\n      <page>/actions/workflows/winnow.yml\n      press "Enable workflow"',
    )
    expect(said).toContain(
      'the repository variable WINNOW_PAUSED is set: no job of winnow starts\n      <page>/settings/variables/actions',
    )
    github.world.workflowStates.delete(WORKFLOW)
    github.world.variables.set('WINNOW_PAUSED', 'false')
    const other = await says()
    expect(other).toContain('GitHub does not list .github/workflows/winnow.yml yet\n      <page>/actions')
    expect(other).not.toContain('WINNOW_PAUSED')
  })

  releaseTest('the repository of the action: missing, without the commit, private', async () => {
    const { github, says } = await setUp()
    const { others, settings } = github.world
    const at = (rest: object) =>
      others.set('o/winnow', { private: true, commits: [COMMIT], access: 'none', ...rest })
    others.clear()
    expect(await says()).toContain('this token sees no repository o/winnow')
    at({ private: false, commits: [] })
    expect(await says()).toContain(
      'o/winnow has no commit ab12ab12ab, which the workflow runs\n      winnow init --github --update',
    )
    at({})
    expect(await says()).toContain(
      'o/winnow is private, and a public repository cannot use an action of a private one',
    )
    settings.private = true
    expect(await says()).toContain('o/winnow is private, and only repositories of o can use an action of it')
  })

  releaseTest('an action of the same owner has to be opened to other repositories', async () => {
    const { github, winnow, says, git } = await setUp()
    await winnow('init', '--github', '--open-pr', '--action', ACTION.replace('o/', 'team/'))
    git('update-ref', 'refs/heads/main', 'winnow-setup-2')
    const { others, settings } = github.world
    settings.private = true
    const held = { private: true, commits: [COMMIT] }
    others.set('team/winnow', { ...held, access: 'none' })
    expect(await says()).toContain(
      'team/winnow is private, and lets no other repository use its action\n      <github>/team/winnow/settings/actions\n      Access: choose "Accessible from repositories owned by team", then Save',
    )
    others.set('team/winnow', { ...held, access: 'user' })
    expect(await says('--all')).toContain(
      'ok  team/winnow has the commit that the workflow runs, and lets this repository use it',
    )
  })

  releaseTest('the environment with the key of a model, where programs are to be asked', async () => {
    const { github, says, commit, winnow, git } = await setUp()
    expect(await says('--all')).not.toContain('winnow-models')
    commit('main', {
      '.winnow/size.yaml': SIZE_SPEC.replace(/propose: .*/, 'propose: [{ use: command, preset: claude }]'),
    })
    const said = await says()
    expect(said).toContain(
      'winnow.yml is out of date for the specs of the default branch\n      winnow init --github --open-pr',
    )
    expect(said).toContain(
      `${AGENTS_ACTION}, which sets up the programs of size, is not on the default branch`,
    )
    expect(said).toContain('there is no environment winnow-models with the secret WINNOW_MODEL_KEY')
    expect(said).toContain(
      [
        '      <page>/settings/environments',
        '      New environment "winnow-models"',
        '      Deployment branches and tags: allow main and optimize/*',
        '      Add environment secret "WINNOW_MODEL_KEY": the key of your model',
      ].join('\n'),
    )
    await winnow('init', '--github', '--open-pr')
    git('update-ref', 'refs/heads/main', 'winnow-setup-2')
    github.world.environments.set('winnow-models', new Set())
    const some = await says()
    expect(some).not.toContain('out of date')
    expect(some).toContain('the environment winnow-models has no secret WINNOW_MODEL_KEY')
    github.world.environments.set('winnow-models', new Set(['WINNOW_MODEL_KEY']))
    expect(await says('--all')).toContain('ok  the environment winnow-models has the secret WINNOW_MODEL_KEY')
    github.world.environmentBranches.set('winnow-models', ['main'])
    expect(await says()).toContain(
      '!!  the environment winnow-models does not let optimize/size use its secret\n      <page>/settings/environments\n      winnow-models, Deployment branches and tags: allow main and optimize/*',
    )
    github.world.environmentBranches.set('winnow-models', ['main', 'optimize/*'])
    expect(await says()).not.toContain('does not let')
  })
})

releaseTest(
  'other workflows are told the lines that keep them off, and a token that may write is kept from ideas',
  async () => {
    const { github, says, commit } = await setUp()
    commit('main', {
      '.github/workflows/ci.yml': CI,
      '.github/workflows/lint.yml': QUIET,
      '.github/workflows/bad.yml': 'on: [',
    })
    const said = await says()
    expect(said).toContain(
      [
        '!!  .github/workflows/ci.yml leaves a run that waits for approval on every draft of winnow (pull_request)',
        '      change these lines of it:',
        '        on:',
        '          push:',
        "            branches-ignore: ['optimize*/**']",
        '          pull_request:',
        '            types: [opened]',
        "            branches-ignore: ['optimize/**']",
      ].join('\n'),
    )
    expect(said).toContain('??  .github/workflows/bad.yml cannot be read as a workflow')
    expect(said).not.toContain('lint.yml')
    expect(await says('--all')).toContain("ok  .github/workflows/lint.yml leaves winnow's branches alone")
    expect(said).not.toContain('a token that may write')
    github.world.settings.defaultToken = 'write'
    expect(await says()).toContain(
      '!!  .github/workflows/ci.yml would run ideas with a token that may write to this repository\n      <page>/settings/actions\n      Workflow permissions: choose "Read repository contents',
    )
    commit('main', { '.github/workflows/ci.yml': `permissions: {}\n${CI.replace('pull_request', 'create')}` })
    const created = await says()
    expect(created).not.toContain('a token that may write')
    expect(created).toContain("also runs on winnow's branches (push, create)")
  },
)

releaseTest(
  'the workflow is missing, out of date, changed by hand, or another on the optimize branch',
  async () => {
    const bare = await onGithub([])
    bare.env['GH_ENTERPRISE_TOKEN'] = bare.github.token('root', { permission: 'admin' })
    expect((await bare.winnow('doctor')).join('\n')).toContain(
      'winnow.yml is not on the default branch\n      winnow init --github writes it; merge it to have campaigns run on GitHub',
    )

    await bare.winnow('init', '--github', '--open-pr', '--action', ACTION)
    const number = bare.github.world.pulls.at(-1)?.number
    expect((await bare.winnow('doctor')).join('\n')).toContain(
      `winnow.yml is not on the default branch yet: the set-up pull request #${number} is open\n      ${bare.github.url}/team/project/pull/${number}\n      merge it to have campaigns run on GitHub`,
    )

    const { says, commit, git, client } = await setUp('', ['- a.txt'])
    const written = git('show', `main:${WORKFLOW}`)
    await client.start()
    expect(await says()).not.toContain('optimize/size')
    commit('main', { '.winnow/size.yaml': `${SIZE_SPEC}schedule: hourly\n` })
    expect(await says()).toContain('winnow.yml is out of date for the specs of the default branch')
    commit('main', {
      '.winnow/size.yaml': SIZE_SPEC,
      [WORKFLOW]: `${written.replace('timeout-minutes: 20', 'timeout-minutes: 30')}\n`,
    })
    const changed = await says()
    expect(changed).not.toContain('out of date')
    expect(changed).toContain(
      'optimize/size has another .github/workflows/winnow.yml than main, and its measuring runs use that one',
    )
    expect(changed).toContain('git switch optimize/size && git merge --no-ff main && git push')
    expect(await says('--all')).toContain('winnow.yml is up to date, with changes by hand')
    commit('main', { [WORKFLOW]: withDigest(written.replace(/^  schedule:\n.*\n/m, '')) })
    expect(await says()).toContain('out of date')
  },
)

describe('of the rules on its branches the doctor says', () => {
  const PULLS = {
    required_pull_request_reviews: { require_code_owner_reviews: false, dismiss_stale_reviews: false },
  }

  async function asked(permission: 'admin' | 'read', spec = '') {
    const there = await onGithub([], { spec })
    await there.client.start()
    there.env['GH_ENTERPRISE_TOKEN'] = there.github.token('somebody', { permission })
    return { ...there, says: async () => (await there.winnow('doctor', '--all')).join('\n') }
  }

  releaseTest(
    'which ruleset would refuse its pushes, on which branch, and when GitHub may merge instead',
    async () => {
      const { github, says } = await asked('read')
      github.world.rules.push({ under: 'optimize/', type: 'pull_request' })
      expect(await says()).toMatch(
        /!! {2}rules on optimize\/size would refuse winnow's pushes: pull_request\n {6}http\S+\/settings\/rules and \S+\/settings\/branches\n {6}exclude optimize\*\/\*\* .*\n {6}or set merge.via: api/,
      )
      github.world.rules.push({ under: 'optimize/', type: 'required_linear_history' })
      const linear = await says()
      expect(linear).toContain('pull_request, required_linear_history')
      expect(linear).not.toContain('merge.via')
      github.world.rules.splice(0, 2, { under: 'optimize-state/', type: 'update' })
      const ledger = await says()
      expect(ledger).toContain("rules on optimize-state/size would refuse winnow's pushes: update")
      expect(ledger).not.toContain('merge.via')
    },
  )

  releaseTest('what classic protection would refuse, as far as the token is told of it', async () => {
    const { github, env, says } = await asked('read')
    github.world.protection.set('optimize/size', PULLS)
    expect(await says()).toContain('??  optimize/size is protected; only administrators can see how')
    env['GH_ENTERPRISE_TOKEN'] = github.token('root', { permission: 'admin' })
    const told = await says()
    expect(told).toContain("rules on optimize/size would refuse winnow's pushes: pull_request")
    expect(told).toContain('or set merge.via: api')
    github.world.protection.set('optimize/size', { lock_branch: { enabled: true } })
    expect(await says()).toContain("would refuse winnow's pushes: update")
    github.world.protection.set('optimize/size', { allow_force_pushes: { enabled: false } })
    expect(await says()).toContain("ok  no rule blocks winnow's branches")
  })

  releaseTest('that they are as they should be where GitHub merges', async () => {
    const { github, says } = await asked('read', 'merge: { via: api }\n')
    github.world.rules.push({ under: 'optimize/', type: 'pull_request' })
    expect(await says()).toContain(
      'ok  optimize/size accepts no pushes (pull_request); with merge.via: api GitHub merges there',
    )
  })
})

releaseTest(
  'a spec for GitHub is checked as one where it is on GitHub, and refused in one sentence elsewhere',
  async () => {
    const { winnow, env } = await onGithub([], { spec: 'merge: { via: api }\n' })
    const said = async () => (await winnow('check', '--no-try')).join('\n')
    expect(await said()).toContain(
      'merge.via api: merging through the API is, but on GitHub, not built yet; use push.',
    )
    Object.assign(env, { GITHUB_REPOSITORY: 'team/project', GITHUB_API_URL: 'http://127.0.0.1/api/v3' })
    expect(await said()).not.toContain('not built')
  },
)

releaseTest('the doctor knows the scopes of a classic token', async () => {
  const { github, env, says } = await setUp()
  env['GH_ENTERPRISE_TOKEN'] = github.token('ada', { scopes: ['gist'] })
  expect(await says()).toContain('!!  the scopes of this token are gist: it may not push')
  env['GH_ENTERPRISE_TOKEN'] = github.token('eva', { scopes: ['repo', 'workflow'] })
  expect(await says('--all')).toContain('ok  the scopes of this token are enough (repo, workflow)')
})

test('the doctor sends the token for github.com to no other address, and says what a server may refuse', async () => {
  const { github, winnow, env, says, commit } = await setUp()
  delete env['GH_ENTERPRISE_TOKEN']
  env['GITHUB_TOKEN'] = github.token('ada', { permission: 'admin' })
  env['GH_TOKEN'] = env['GITHUB_TOKEN']
  const before = github.api.log.length
  const said = (await winnow('doctor')).join('\n')
  expect(github.api.log.slice(before)).toEqual([])
  expect(said).toMatch(/GitHub was not checked: there is no token for 127\.0\.0\.1:\d+/)
  expect(said).toMatch(
    /gh auth login --hostname 127\.0\.0\.1:\d+, or set GH_ENTERPRISE_TOKEN; then winnow doctor/,
  )
  expect(said).toContain('upload-artifact v4 and newer (up to v7) refuse to run on an Enterprise Server')
  expect(said).toContain('winnow init --github --single-job')
  const hint =
    /^127\.0\.0\.1:\d+: upload-artifact v4 .* on an Enterprise Server, .* Use winnow init --github --single-job there\.$/
  expect((await winnow('init', '--github', '--action', ACTION)).at(-1)).toMatch(hint)
  const single = await winnow('init', '--github', '--single-job', '--dry-run', '--action', ACTION)
  const text = single
    .find(line => line.startsWith(`\n--- ${WORKFLOW}`))
    ?.split('\n')
    .slice(2)
    .join('\n')
  commit('main', { [WORKFLOW]: `${text}\n` })
  const then = await says()
  expect(then).not.toContain('Enterprise Server refuses')
  expect(then).not.toContain('out of date')
})
