import { lazy } from 'react'
import { useSession } from '../../session/context.tsx'
import { TemplateList } from './template-list.tsx'

const Editor = lazy(() => import('./editor.tsx'))
const TemplatePage = lazy(() => import('./template-page.tsx'))

/** The list of templates; `/templates/new` is the editor, and any other id is a template. */
export default function Templates({ templateId }: { templateId?: string }) {
  const { can } = useSession()
  if (templateId === undefined || (templateId === 'new' && !can('messages:create'))) return <TemplateList />
  return templateId === 'new' ? <Editor /> : <TemplatePage key={templateId} templateId={templateId} />
}
