import { Menu } from '@mantine/core'
import { CopyPlus, Power, PowerOff, Star, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { TemplateView } from '../../../../sdk/index.ts'
import { useAction } from '../../api/use-read.ts'
import { ActionMenu } from '../../parts/action-menu.tsx'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { notifyDone, notifyFault } from '../../parts/toast.tsx'
import { useSession } from '../../session/context.tsx'
import { TEMPLATES } from './use-templates.ts'

/** The actions on a template, without those that the API would refuse. */
export function TemplateMenu({ template, onDeleted }: { template: TemplateView; onDeleted?: () => void }) {
  const [, go] = useLocation()
  const [asked, setAsked] = useState(false)
  const { id, name, status, isDefault, isPlatformTemplate, provider } = template
  const act = useTemplateActions(template)
  const { can } = useSession()
  const usable = status === 'active' || status === 'approved'
  const switches = provider !== 'official_provider' && !isPlatformTemplate
  if (!can('messages:create')) return null
  return (
    <>
      <ActionMenu label={`Actions for ${name}`}>
        <Menu.Item leftSection={<CopyPlus size={15} />} onClick={() => go(`/templates/new?from=${id}`)}>
          Duplicate
        </Menu.Item>
        {usable && !isDefault && (
          <Menu.Item leftSection={<Star size={15} />} onClick={act.makeDefault}>
            Make it the default
          </Menu.Item>
        )}
        {switches && status === 'active' && (
          <Menu.Item leftSection={<PowerOff size={15} />} onClick={act.disable}>
            Disable
          </Menu.Item>
        )}
        {switches && status === 'disabled' && (
          <Menu.Item leftSection={<Power size={15} />} onClick={act.enable}>
            Enable
          </Menu.Item>
        )}
        {!isPlatformTemplate && (
          <Menu.Item leftSection={<Trash2 size={15} />} color="var(--ph-bad)" onClick={() => setAsked(true)}>
            Delete
          </Menu.Item>
        )}
      </ActionMenu>
      <ConfirmDialog
        opened={asked}
        onClose={() => setAsked(false)}
        title="Delete this template?"
        text={
          provider === 'official_provider' ? (
            <>
              <b>{name}</b> is deleted at its provider first, which may keep its name from being used again
              for a month. Messages that were accepted go out as they were.
            </>
          ) : (
            <>
              <b>{name}</b> can no longer be sent. Messages that were accepted go out as they were.
            </>
          )
        }
        confirmLabel="Delete the template"
        run={async () => {
          await act.remove()
          onDeleted?.()
        }}
      />
    </>
  )
}

function useTemplateActions({ id, name }: TemplateView) {
  const changes = [TEMPLATES, '/api/v2/account']
  const path = { id }
  const makeDefault = useAction(api => api.post('/api/v2/templates/{id}/default', { path }), {
    changes,
    onDone: () => notifyDone(`${name} is the default of its kind and type.`),
  })
  const enable = useAction(api => api.post('/api/v2/templates/{id}/enable', { path }), {
    changes,
    onDone: () => notifyDone(`${name} can be sent again.`),
  })
  const disable = useAction(api => api.post('/api/v2/templates/{id}/disable', { path }), {
    changes,
    onDone: () => notifyDone(`${name} is disabled: messages that use it are refused.`),
  })
  const remove = useAction(api => api.delete('/api/v2/templates/{id}', { path }), {
    changes,
    onDone: () => notifyDone(`${name} is deleted.`),
  })
  return {
    makeDefault: () => makeDefault.mutate(undefined, { onError: notifyFault }),
    enable: () => enable.mutate(undefined, { onError: notifyFault }),
    disable: () => disable.mutate(undefined, { onError: notifyFault }),
    remove: () => remove.mutateAsync(undefined),
  }
}
