import { describe, expect, it, vi } from 'vitest'
import { answers, idea, ITEMS_HARNESS, JUDGED_SPEC, scoresByWord } from '../support/judged-repository.ts'
import { modelServer } from '../servers/model-server.ts'
import { bundledCommandLine, ended } from './command-line.ts'
import { endingOf, expectSound } from './ending.ts'
import { full } from './full.ts'
import { scene } from './scene.ts'

const commandLine = bundledCommandLine()

describe('a run that is killed while a model judges', () => {
  it.each(full ? [1, 2, 7] : [2])(
    'in request %d, requests only the missing scores again',
    async nth => {
      let held: string | null = null
      const server = await modelServer((asked, before) => {
        if (before !== nth - 1) return scoresByWord(asked)
        held = asked.user
        return 'silent'
      })
      const env = {
        WINNOW_MODEL_URL: server.url,
        WINNOW_MODEL_KEY: 'sk-of-the-judge',
        WINNOW_MODEL_PRICE: '1/5',
      }
      const at = scene(
        {
          'bench/items.awk': ITEMS_HARNESS,
          'src/answers.txt': answers('poor'),
          'ideas/0.patch': idea('better', answers('good')),
          '.winnow/size.yaml': JUDGED_SPEC,
        },
        { remote: true },
      )
      const child = commandLine.start(at, ['run'], env)
      const end = ended(child)
      await vi.waitFor(() => expect(held).not.toBeNull(), { timeout: 60_000, interval: 20 })
      child.kill('SIGKILL')
      expect(await end).toMatchObject({ signal: 'SIGKILL' })

      const { code, err } = await commandLine.run(at, ['run'], env)
      expect([code, err]).toEqual([0, err])
      const questions = server.asked.map(({ user }) => user)
      const twice = questions.filter((each, index) => questions.indexOf(each) < index)
      expect(twice).toEqual([held])
      const after = await endingOf(at)
      expect(after.events.filter(({ kind }) => kind === 'order-lost')).toEqual([])
      await expectSound(at, commandLine, after)
    },
    120_000,
  )
})
