import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { patchOf } from '../support/repository.ts'
import { createSizeRepository, letters, SIZE_HARNESS } from '../support/size-repository.ts'
import { scratch } from '../git/scratch.ts'

/** Changes the harness of the other idea, as soon as the machine measures it. */
function disturb(done: string): string {
  return `until [ -e ${done} ]; do
  for tree in ../../../*/*/tree; do
    [ -e "$tree/src/b.sh" ] && echo '# disturbed' >> "$tree/bench/size.sh" && : > ${done}
  done
  sleep 0.02
done
`
}

it.skipIf(availableParallelism() < 2)(
  'an idea whose files another idea changed is measured again alone, and kept',
  async () => {
    const done = join(scratch(), 'done')
    const wait = `until [ -e ${done} ]; do sleep 0.02; done\n`
    const harness = SIZE_HARNESS.replace(
      'extra=0',
      'for each in src/*.sh; do [ -e "$each" ] && . "$each"; done\nextra=0',
    )
    const site = await createSizeRepository(
      [
        patchOf({ 'src/a.sh': [null, disturb(done)] }, { hypothesis: 'disturbs' }),
        patchOf(
          { 'src/b.txt': [letters('b', 15), letters('b', 3)], 'src/b.sh': [null, wait] },
          { hypothesis: 'waits' },
        ),
      ],
      {
        files: { 'bench/size.sh': harness },
        spec: text =>
          `${text.replace('probes: off', 'probes: off, isolation: none')}merge: { suspicious: allow }\n`,
      },
    )
    await site.start()
    expect(await site.run()).toEqual({ for: 'ideas' })
    const { experiments } = await site.campaign()
    expect(Object.values(experiments).map(({ outcome }) => outcome)).toEqual(['dropped', 'kept'])
    const measured = (await site.events()).flatMap(event =>
      event.kind === 'measured' && event.report.trees['exp-002'] !== undefined ? [event.report.tampered] : [],
    )
    expect(measured).toEqual([{ during: 'exp-002', path: 'bench/size.sh' }, null])
    await site.proven()
  },
)
