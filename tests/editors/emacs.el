;;; What a user does in Emacs with eglot, one JSON line for each result:
;;;   emacs --batch -L editors/emacs -l emacs.el FILE SERVER
;;; FILE has a misspelt key with one obvious fix; the marker ▮ in it is where completion is asked for, and is removed.

(package-initialize)
(require 'eglot)
(require 'flymake)
(require 'json)
(require 'llsd)
(require 'yaml-mode)

(defvar patience 300 "Seconds that an event may take: it bounds a hang, whatever else the machine does.")
(defvar file-name (file-name-nondirectory (car command-line-args-left)))

(defvar received 'nothing "The newest diagnostics of the file, as eglot got them: flymake shows them when Emacs is idle.")

(cl-defmethod eglot-handle-notification :before
  (_server (_method (eql textDocument/publishDiagnostics)) &key uri diagnostics &allow-other-keys)
  (when (string-suffix-p file-name uri)
    (setq received (append diagnostics nil))))

(defun emit (name value)
  (princ (concat (json-encode (list (cons name value))) "\n")))

(defun await (what condition)
  (with-timeout (patience (error "Waited in vain for %s; diagnostics: %S" what received))
    (while (not (funcall condition))
      ;; In a batch, Emacs takes up what the server sends of its own accord only beside an answer.
      (let ((server (eglot-current-server)))
        (when server
          (jsonrpc-request server :textDocument/documentSymbol
                           (list :textDocument (eglot--TextDocumentIdentifier)))))
      (accept-process-output nil 0.02))))

(defun buffer-text ()
  (buffer-substring-no-properties (point-min) (point-max)))

(defun ask (method &optional more)
  (eglot--signal-textDocument/didChange)
  (jsonrpc-request (eglot-current-server) method
                   (append more (eglot--TextDocumentPositionParams))))

(defun place (diagnostic)
  (plist-get (plist-get diagnostic :range) :start))

(defun say-diagnostics (name)
  (emit name
        (vconcat (mapcar (lambda (found)
                           (list (cons 'line (plist-get (place found) :line))
                                 (cons 'message (plist-get found :message))))
                         received))))

;; The first choice wherever Emacs would ask.
(setq eglot-confirm-server-initiated-edits nil)
(fset 'completing-read (lambda (_ choices &rest _) (caar choices)))
(fset 'read-string (lambda (&rest _) "renamed"))
(fset 'yes-or-no-p (lambda (&rest _) t))
(fset 'y-or-n-p (lambda (&rest _) t))

(let ((file (expand-file-name (pop command-line-args-left)))
      (server (pop command-line-args-left)))
  (setq llsd-program server)
  (llsd-setup)
  (setq eglot-sync-connect patience eglot-connect-timeout patience jsonrpc-default-request-timeout patience
        eglot-autoshutdown t create-lockfiles nil make-backup-files nil)
  (find-file file)
  (yaml-mode)
  ;; What the hook does as soon as Emacs is idle.
  (apply #'eglot (eglot--guess-contact))
  (await "the server" #'eglot-managed-p)
  (emit "server" (list (cons 'name (plist-get (eglot--server-info (eglot-current-server)) :name))
                       (cons 'mode (symbol-name major-mode))))

  ;; Completion at the marker, accepted with the first offer that fits.
  (goto-char (point-min))
  (search-forward "▮")
  (delete-char -1)
  (eglot--signal-textDocument/didChange)
  (let* ((capf (eglot-completion-at-point))
         (offers (all-completions (buffer-substring-no-properties (nth 0 capf) (nth 1 capf)) (nth 2 capf)))
         (first (car offers)))
    (emit "completion" (vconcat (mapcar #'substring-no-properties offers)))
    (let ((start (nth 0 capf)) (end (nth 1 capf)) (exit (plist-get (nthcdr 3 capf) :exit-function)))
      (delete-region start end)
      (goto-char start)
      (insert first)
      (when exit (funcall exit first 'finished))))
  (emit "completed" (buffer-text))

  (emit "hover" (plist-get (plist-get (progn (backward-char) (ask :textDocument/hover)) :contents) :value))

  ;; What is wrong, without the half-typed word.
  (await "diagnostics" (lambda () (and (listp received) (= 1 (length received)))))
  (say-diagnostics "diagnostics")

  ;; The fix, through eglot's own command.
  (goto-char (eglot--lsp-position-to-point (place (car received))))
  (let ((before (buffer-chars-modified-tick)))
    (eglot-code-actions (point) (1+ (point)) "quickfix" t)
    (await "the fix" (lambda () (/= before (buffer-chars-modified-tick)))))
  (emit "fixed" (buffer-text))
  ;; Edits are sent when Emacs is idle, which it never is in a batch.
  (eglot--signal-textDocument/didChange)
  (await "a clean buffer" (lambda () (null received)))

  ;; A provider's id, where it is declared and where it is used.
  (goto-char (point-min))
  (search-forward "id: main")
  (eglot-rename "renamed")
  (emit "renamed" (buffer-text))

  (goto-char (point-min))
  (eglot-format-buffer)
  (emit "formatted" (buffer-text))

  (llsd-preview)
  (with-current-buffer (format "*llsd-preview: %s*" file-name)
    (emit "preview" (buffer-text))
    (emit "readonly" buffer-read-only))
  ;; The window beside follows when it is asked to.
  (goto-char (point-min))
  (search-forward "http://vllm:8000")
  (replace-match "http://other:8000")
  (with-current-buffer (format "*llsd-preview: %s*" file-name)
    (revert-buffer)
    (emit "followed" (buffer-text)))

  (goto-char (point-min))
  (delete-region (point) (point-max))
  (insert "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nmetadata:\n  name: old\nspec:\n"
          "  server:\n    distribution:\n      name: starter\n")
  (goto-char (point-min))
  (let ((before (buffer-text)) (asked nil))
    ;; Whoever says no keeps the text, and has seen what would become of it.
    (cl-letf (((symbol-function 'y-or-n-p) (lambda (question) (push question asked) nil)))
      (llsd-migrate))
    (emit "declined" (list (cons 'asked (vconcat asked))
                           (cons 'untouched (equal before (buffer-text)))
                           (cons 'shown (with-current-buffer "*llsd-migration*" (buffer-text))))))
  (llsd-migrate)
  (emit "migrated" (buffer-text))

  (delete-region (point-min) (point-max))
  (insert "version: 2\nimage_name: demo\napis: [inference, telemetry]\nproviders:\n  inference:\n"
          "  - provider_id: vllm\n    provider_type: remote::vllm\n    config:\n      url: http://vllm:8000/v1\n"
          "  telemetry:\n  - provider_id: meta\n    provider_type: inline::meta-reference\n    config: {}\n")
  (goto-char (point-min))
  (fset 'completing-read
        (lambda (_ choices &rest _) (seq-find (lambda (title) (string-match-p "ogx 1\\.5\\.0" title)) (mapcar #'car choices))))
  (llsd-migrate)
  (emit "config" (list (cons 'shown (with-current-buffer "*llsd-migration*" (buffer-text)))
                       (cons 'after (buffer-text))))
  (set-buffer-modified-p nil)
  (eglot-shutdown (eglot-current-server))
  (kill-emacs 0))
