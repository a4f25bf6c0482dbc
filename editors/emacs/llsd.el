;;; llsd.el --- LlamaStackDistribution resources with eglot -*- lexical-binding: t; -*-

;; Author: The llsd authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1") (eglot "1.9"))
;; Keywords: languages, tools
;; URL: https://github.com/llamastack/llsd
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Has eglot start the language server of llsd in YAML buffers, and adds commands for what eglot does not know:
;; `llsd-preview' and `llsd-migrate'.
;;
;;   (require 'llsd)
;;   (llsd-setup)

;;; Code:

(require 'diff)
(require 'eglot)
(require 'seq)

(defgroup llsd nil
  "LlamaStackDistribution resources."
  :group 'tools
  :prefix "llsd-")

(defcustom llsd-program "llsd"
  "The program of the language server."
  :type 'file)

(defun llsd--contact (&optional _interactive)
  "Return program and arguments of the server."
  (list llsd-program "lsp"))

(defun llsd--indent ()
  "Set the width by which eglot has the server format."
  ;; Emacs' own default is 8.
  (setq-local tab-width 2))

;;;###autoload
(defun llsd-setup ()
  "Have eglot start llsd in YAML buffers.
It leaves files alone that have neither a resource nor a config of the server."
  (dolist (mode '(yaml-mode yaml-ts-mode))
    (add-to-list 'eglot-server-programs (cons mode #'llsd--contact))
    (let ((hook (intern (format "%s-hook" mode))))
      (add-hook hook #'llsd--indent)
      (add-hook hook #'eglot-ensure))))

(defun llsd--server ()
  "Return the server of the current buffer."
  (or (eglot-current-server)
      (user-error "The language server is not running here; M-x eglot starts it")))

(defun llsd--text (buffer position)
  "Return the config that is generated for the resource at POSITION of BUFFER."
  (with-current-buffer buffer
    (save-excursion
      (goto-char position)
      (let ((server (llsd--server)))
        (eglot--signal-textDocument/didChange)
        (or (plist-get (jsonrpc-request server :llsd/preview (eglot--TextDocumentPositionParams)) :text)
            (user-error "There is no resource at point whose config could be shown"))))))

(defun llsd--show (text)
  "Put TEXT in place of the content of the current buffer."
  (let ((inhibit-read-only t) (place (point)))
    (erase-buffer)
    (insert text)
    (goto-char (min place (point-max)))))

;;;###autoload
(defun llsd-preview ()
  "Show the config that is generated for the resource at point, in another window.
There, \\<special-mode-map>\\[revert-buffer] generates it again."
  (interactive)
  (let* ((source (current-buffer))
         (place (point-marker))
         (text (llsd--text source place))
         (shown (get-buffer-create (format "*llsd-preview: %s*" (buffer-name source)))))
    (with-current-buffer shown
      (special-mode)
      (setq-local revert-buffer-function (lambda (&rest _) (llsd--show (llsd--text source place))))
      (llsd--show text))
    (display-buffer shown)))

(defconst llsd--migrations
  ["refactor.rewrite.llsd.migrate" "refactor.rewrite.llsd.ogx" "refactor.rewrite.llsd.config"]
  "Kinds of the server's migrations: of resources, to ogx, and of configs.")

(defun llsd--choose-migration (server)
  "Ask which migration of SERVER is wanted at point, and return it."
  (eglot--signal-textDocument/didChange)
  (let* ((place (eglot--pos-to-lsp-position))
         (offered (append (jsonrpc-request server :textDocument/codeAction
                                           (list :textDocument (eglot--TextDocumentIdentifier)
                                                 :range (list :start place :end place)
                                                 :context (list :diagnostics [] :only llsd--migrations)))
                          nil))
         (possible (seq-remove (lambda (action) (plist-get action :disabled)) offered))
         (titles (mapcar (lambda (action) (cons (plist-get action :title) action)) possible)))
    (unless titles
      (user-error "%s" (or (plist-get (plist-get (car offered) :disabled) :reason)
                           "There is nothing to migrate at point")))
    (let ((action (cdr (assoc (completing-read "Migration: " titles nil t) titles))))
      (if (plist-get action :edit)
          action
        (jsonrpc-request server :codeAction/resolve action)))))

(defun llsd--changes (edit)
  "Return the files of the workspace EDIT, each a URI with its edits."
  (let ((plain (plist-get edit :changes)) found)
    (while plain
      (push (cons (substring (symbol-name (pop plain)) 1) (pop plain)) found))
    (seq-doseq (change (plist-get edit :documentChanges))
      (when (plist-get change :textDocument)
        (push (cons (plist-get (plist-get change :textDocument) :uri) (plist-get change :edits)) found)))
    (nreverse found)))

(defun llsd--difference (buffer edits)
  "Return the difference of BUFFER to itself with EDITS."
  (let ((new (generate-new-buffer " *llsd-new*"))
        (shown (generate-new-buffer " *llsd-diff*")))
    (unwind-protect
        (progn
          (with-current-buffer new
            (insert (with-current-buffer buffer (save-restriction (widen) (buffer-string))))
            (let ((inhibit-message t)) (eglot--apply-text-edits edits)))
          (diff-no-select buffer new "-u" t shown)
          (with-current-buffer shown
            (goto-char (point-min))
            (if (search-forward "@@" nil t)
                (let ((start (line-beginning-position)))
                  ;; Behind it, Emacs says when it was done.
                  (goto-char (point-max))
                  (re-search-backward "^Diff finished" start t)
                  (buffer-substring-no-properties start (point)))
              "")))
      (kill-buffer new)
      (kill-buffer shown))))

(defun llsd--show-migration (action)
  "Show the differences and the losses of ACTION."
  (let ((shown (get-buffer-create "*llsd-migration*"))
        (edit (plist-get action :edit))
        (told (append (plist-get (plist-get action :data) :told) nil)))
    (with-current-buffer shown
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert (plist-get action :title) "\n")
        (dolist (line told) (insert line "\n"))
        (seq-doseq (change (plist-get edit :documentChanges))
          (when (equal (plist-get change :kind) "delete")
            (insert "deletes " (eglot--uri-to-path (plist-get change :uri)) "\n")))
        (dolist (file (llsd--changes edit))
          (let ((path (eglot--uri-to-path (car file))))
            (insert "\n--- " path "\n+++ " path "\n"
                    (llsd--difference (find-file-noselect path) (cdr file)))))
        (goto-char (point-min)))
      (diff-mode)
      (setq buffer-read-only t))
    (display-buffer shown)))

;;;###autoload
(defun llsd-migrate ()
  "Rewrite the resource or config at point for another version.
What changes, and what is not kept, is shown first, and nothing changes
without a yes."
  (interactive)
  (let ((action (llsd--choose-migration (llsd--server))))
    (unless (plist-get action :edit)
      (user-error "This migration changes nothing"))
    (llsd--show-migration action)
    (when (y-or-n-p (format "%s? " (plist-get action :title)))
      (let ((eglot-confirm-server-initiated-edits nil))
        (eglot--apply-workspace-edit (plist-get action :edit) nil)))))

(provide 'llsd)
;;; llsd.el ends here
