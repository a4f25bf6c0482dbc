-- What the commands of plugin/llsd.lua do. Each speaks of the resource at the cursor of the current buffer.
local M = {}

-- The kinds of the server's migrations: of resources, to ogx, and of configs to another version.
local MIGRATIONS = { 'refactor.rewrite.llsd.migrate', 'refactor.rewrite.llsd.ogx', 'refactor.rewrite.llsd.config' }

-- The migration that is shown, until it is made.
local shown_migration

local function say(message)
  vim.notify('llsd: ' .. message, vim.log.levels.WARN)
end

local function client_of(buffer)
  local client = vim.lsp.get_clients({ bufnr = buffer, name = 'llsd' })[1]
  if not client then say("the language server is not running here; vim.lsp.enable('llsd') starts it") end
  return client
end

local function ask(client, buffer, method, more, done)
  local position = vim.lsp.util.make_position_params(0, client.offset_encoding)
  client:request(method, vim.tbl_extend('force', position, more or {}), function(failed, answer)
    if failed then
      say(failed.message)
    elseif answer == nil or answer == vim.NIL then
      say('there is no resource at the cursor whose config could be shown')
    else
      done(answer)
    end
  end, buffer)
end

-- A buffer of text that nobody writes, under this name.
local function show(name, text)
  local buffer = vim.fn.bufnr('^' .. vim.fn.escape(name, '[]*?^$\\') .. '$')
  if buffer == -1 then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, name)
    -- Not `yaml`, which would start language servers in it.
    vim.bo[buffer].syntax = 'yaml'
    vim.bo[buffer].bufhidden = 'hide'
  end
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split((text:gsub('\n$', '')), '\n', { plain = true }))
  vim.bo[buffer].modifiable = false
  return buffer
end

local function beside(buffer)
  if vim.fn.bufwinid(buffer) == -1 then
    vim.api.nvim_open_win(buffer, false, { split = 'right', win = 0 })
  end
end

function M.preview()
  local buffer = vim.api.nvim_get_current_buf()
  local client = client_of(buffer)
  if not client then return end
  local name = 'llsd-preview://' .. buffer
  local function refresh(then_do)
    ask(client, buffer, 'llsd/preview', nil, function(answer)
      local shown = show(name, answer.text)
      if then_do then then_do(shown) end
    end)
  end
  refresh(function(shown)
    beside(shown)
    -- The config follows the text for as long as its window is open.
    local group = vim.api.nvim_create_augroup('llsd-preview-' .. buffer, { clear = true })
    vim.api.nvim_create_autocmd({ 'TextChanged', 'InsertLeave' }, {
      group = group,
      buffer = buffer,
      callback = function()
        if vim.fn.bufwinid(shown) == -1 then
          vim.api.nvim_del_augroup_by_id(group)
        else
          refresh()
        end
      end,
    })
  end)
end

function M.diff(against)
  local buffer = vim.api.nvim_get_current_buf()
  local client = client_of(buffer)
  if not client then return end
  ask(client, buffer, 'llsd/previewDiff', { against = against or 'base' }, function(answer)
    local left = show('llsd-diff://' .. answer.left.title, answer.left.text)
    local right = show('llsd-diff://' .. answer.right.title, answer.right.text)
    vim.cmd.tabnew()
    vim.api.nvim_win_set_buf(0, left)
    vim.cmd.diffthis()
    vim.api.nvim_open_win(right, true, { split = 'right', win = 0 })
    vim.cmd.diffthis()
  end)
end

local function lines_of(buffer)
  return vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
end

-- The files that a change is about, each with its edits, and the names of those that go away.
local function parts(edit)
  local files, gone = {}, {}
  for uri, edits in pairs(edit.changes or {}) do
    table.insert(files, { uri = uri, edits = edits })
  end
  for _, change in ipairs(edit.documentChanges or {}) do
    if change.kind == 'delete' then
      table.insert(gone, vim.fn.fnamemodify(vim.uri_to_fname(change.uri), ':.'))
    elseif change.textDocument then
      table.insert(files, { uri = change.textDocument.uri, edits = change.edits })
    end
  end
  return files, gone
end

local function edited(buffer, edits, encoding)
  local copy = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(copy, 0, -1, false, lines_of(buffer))
  vim.lsp.util.apply_text_edits(edits, copy, encoding)
  local text = table.concat(lines_of(copy), '\n')
  vim.api.nvim_buf_delete(copy, { force = true })
  return text
end

-- Shows what a migration makes of each file, in a tab beside what is there, and what it does not keep. Nothing is changed.
local function show_migration(client, action)
  local encoding = client.offset_encoding
  local files, gone = parts(action.edit or {})
  if #files + #gone == 0 then return say('this migration changes nothing') end
  local told = type(action.data) == 'table' and action.data.told or {}
  for _, file in ipairs(gone) do
    told = vim.list_extend({ 'deletes ' .. file }, told)
  end
  local home = vim.api.nvim_get_current_tabpage()
  shown_migration = { edit = action.edit, encoding = encoding, ticks = {}, tabs = {}, home = home }
  for _, file in ipairs(files) do
    local buffer = vim.uri_to_bufnr(file.uri)
    vim.fn.bufload(buffer)
    local name = vim.fn.fnamemodify(vim.uri_to_fname(file.uri), ':.')
    local new = show('llsd-migration://' .. name, edited(buffer, file.edits, encoding))
    vim.cmd.tabnew()
    table.insert(shown_migration.tabs, vim.api.nvim_get_current_tabpage())
    shown_migration.ticks[buffer] = vim.api.nvim_buf_get_changedtick(buffer)
    vim.api.nvim_win_set_buf(0, buffer)
    vim.cmd.diffthis()
    vim.api.nvim_open_win(new, true, { split = 'right', win = 0 })
    vim.cmd.diffthis()
  end
  if #told > 0 then
    local list = show('llsd-migration://', action.title .. ':\n' .. table.concat(told, '\n'))
    vim.api.nvim_open_win(list, false, { split = 'below', win = -1, height = math.min(#told + 1, 12) })
  end
  vim.notify('llsd: ' .. action.title .. '? :LlsdApply makes this change, :tabclose leaves all as it is')
end

function M.migrate()
  local buffer = vim.api.nvim_get_current_buf()
  local client = client_of(buffer)
  if not client then return end
  local params = vim.lsp.util.make_range_params(0, client.offset_encoding)
  params.context = { diagnostics = {}, only = MIGRATIONS }
  client:request('textDocument/codeAction', params, function(failed, actions)
    if failed then return say(failed.message) end
    local possible = vim.tbl_filter(function(action) return not action.disabled end, actions or {})
    if #possible == 0 then
      local refused = (actions or {})[1]
      return say(refused and refused.disabled.reason or 'there is nothing to migrate at the cursor')
    end
    local function title(action) return action.title end
    vim.ui.select(possible, { prompt = 'Which migration?', format_item = title }, function(action)
      if not action then return end
      if action.edit then return show_migration(client, action) end
      client:request('codeAction/resolve', action, function(why, resolved)
        if why then return say(why.message) end
        show_migration(client, resolved)
      end, buffer)
    end)
  end, buffer)
end

-- Makes the migration that is shown, unless a text has changed since.
function M.apply()
  local wanted = shown_migration
  if not wanted then return say('no migration is shown; :LlsdMigrate shows one') end
  shown_migration = nil
  local is_old = false
  for buffer, tick in pairs(wanted.ticks) do
    is_old = is_old or not vim.api.nvim_buf_is_valid(buffer) or vim.api.nvim_buf_get_changedtick(buffer) ~= tick
  end
  for _, tab in ipairs(wanted.tabs) do
    if vim.api.nvim_tabpage_is_valid(tab) and #vim.api.nvim_list_tabpages() > 1 then
      vim.cmd.tabclose(vim.api.nvim_tabpage_get_number(tab))
    end
  end
  if vim.api.nvim_tabpage_is_valid(wanted.home) then vim.api.nvim_set_current_tabpage(wanted.home) end
  if is_old then return say('the text has changed since: :LlsdMigrate shows it anew') end
  vim.lsp.util.apply_workspace_edit(wanted.edit, wanted.encoding)
end

return M
