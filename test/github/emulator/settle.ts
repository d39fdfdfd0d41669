import type { BareGit } from './bare-git.ts'
import { notePull, notePush } from './events.ts'
import { type Account, now, type PullRecord, type World } from './world.ts'

/**
 * What moved branches make of pull requests: a head is followed, a head that arrived in its base is merged, a
 * pull request whose branch is gone is closed for good, one whose base is gone follows where that one went.
 */
export async function settle(world: World, pusher: Account | null = null): Promise<void> {
  const { git } = world
  const before = world.tips
  const tips = await git.tips()
  world.tips = tips
  const forks = new Map<string, Map<string, string>>()
  for (const [owner, fork] of world.forks) forks.set(owner, await fork.tips())
  remember(world, world.owner, tips)
  for (const [owner, found] of forks) remember(world, owner, found)
  if (pusher) await pushed(world, pusher, before, tips)
  for (const pull of world.pulls.filter(each => each.state === 'open')) {
    const tip = (pull.fork === null ? tips : forks.get(pull.fork))?.get(pull.branch)
    const base = tips.get(pull.base)
    if (tip === pull.head && base !== undefined && base === before.get(pull.base)) continue
    if (tip !== undefined && tip !== pull.head) await follow(world, pull, tip, pusher)
    await conclude(world, pull, { tip, base, by: pusher ?? pull.author })
  }
}

function remember({ pushes }: World, owner: string, tips: ReadonlyMap<string, string>): void {
  for (const [branch, after] of tips) {
    const last = pushes.findLast(each => each.owner === owner && each.branch === branch)
    if (last?.after !== after) pushes.push({ owner, branch, after })
  }
}

async function pushed(
  world: World,
  pusher: Account,
  before: ReadonlyMap<string, string>,
  tips: ReadonlyMap<string, string>,
): Promise<void> {
  for (const [branch, head] of tips) {
    if (before.get(branch) === head) continue
    world.pushed.push({ by: pusher.login, branch })
    await notePush(world, branch, head, pusher)
  }
}

async function follow(world: World, pull: PullRecord, tip: string, pusher: Account | null): Promise<void> {
  pull.head = tip
  await holdHead(world, pull)
  await notePull(world, pull, 'synchronize', pusher ?? pull.author)
}

/** Also the heads of forks can be read here, by their pull request's number. */
export async function holdHead(world: World, { fork, branch, head, number }: PullRecord): Promise<void> {
  const source: BareGit | undefined = fork === null ? undefined : world.forks.get(fork)
  if (source) await world.git.run('fetch', '-q', source.dir, `+refs/heads/${branch}:refs/pull/${number}/head`)
  else await world.git.moveRef(`refs/pull/${number}/head`, head)
}

async function conclude(
  world: World,
  pull: PullRecord,
  { tip, base, by }: { tip: string | undefined; base: string | undefined; by: Account },
): Promise<void> {
  if (base !== undefined && (await world.git.contains(base, pull.head))) {
    const commit = await bringing(world.git, base, pull.head)
    return end(world, pull, { commit, by: pull.author.login }, by)
  }
  if (tip === undefined) {
    pull.headGone = true
    return end(world, pull, null, by)
  }
  if (base !== undefined) return
  const merged = world.pulls.find(
    each => each.fork === null && each.branch === pull.base && each.merge !== null,
  )
  if (merged) pull.base = merged.base
  else await end(world, pull, null, by)
}

export async function end(
  world: World,
  pull: PullRecord,
  merge: PullRecord['merge'],
  by: Account,
): Promise<void> {
  Object.assign(pull, { state: 'closed', closedAt: now(world), merge })
  await notePull(world, pull, 'closed', by)
}

/** The commit of the base branch with which a head arrived there. */
async function bringing(git: BareGit, base: string, head: string): Promise<string> {
  const line = (await git.run('rev-list', '--first-parent', base)).split('\n')
  if (line.includes(head)) return head
  let found = base
  for (const commit of line) {
    if (!(await git.contains(commit, head))) break
    found = commit
  }
  return found
}
