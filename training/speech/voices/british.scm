; The British voices rab and don without the Oxford lexicon they were made for: words are looked up in festlex-cmu and
; its American phones turned into those of RP, an r kept before vowels alone.
(define (setup_oald_lex) nil)
(setup_cmu_lex)

(set! british_phones
  '((aa o) (ae a) (ah uh) (ao oo) (aw au) (ax @) (axr @) (ay ai) (eh e) (ey ei) (ih i) (iy ii) (ow ou) (oy oi) (uh u)
    (uw uu) (el @ l) (em @ m) (en @ n) (hh h) (hv h) (dx t) (nx n)))
(set! british_before_r
  '((aa aa) (ao oo) (eh e@) (ae e@) (ih i@) (iy i@) (uh u@) (uw u@) (ay ai @) (aw au @) (ah @@) (ax @) (ey e@) (ow oo)))

(define (british_phone p table)
  (let ((found (assoc p table)))
    (if found (cdr found) (list p))))

(define (british_syllable phones stress next)
"Phones of one syllable; next is the first phone of the syllable behind it, or nil."
  (cond
   ((null phones) nil)
   ((and (string-equal (car phones) "ao") (cdr phones) (member_string (cadr phones) '(f g ng s th)))
    (cons 'o (british_syllable (cdr phones) stress next)))
   ((member_string (car phones) '(er axr))
    (append (list (if (eq stress 0) '@ '@@))
            (if (british_vowel (or (cadr phones) next)) '(r) nil)
            (british_syllable (cdr phones) stress next)))
   ((and (cdr phones) (string-equal (cadr phones) "r") (assoc (car phones) british_before_r))
    (append (british_phone (car phones) british_before_r)
            (if (british_vowel (or (car (cddr phones)) next)) '(r) nil)
            (british_syllable (cddr phones) stress next)))
   (t (append (british_phone (car phones) british_phones)
              (british_syllable (cdr phones) stress next)))))

(define (british_vowel p)
  (and p (member_string p '(aa ae ah ao aw ax axr ay eh el em en er ey ih iy ow oy uh uw))))

(define (british_syllables syls)
  (if syls
      (cons (list (british_syllable (car (car syls)) (cadr (car syls)) (if (cdr syls) (car (car (cadr syls)))))
                  (cadr (car syls)))
            (british_syllables (cdr syls)))))

(define (british_lookup word feats)
"What the lexicon asks for each word."
  (lex.select "cmu")
  (let ((entry (lex.lookup word feats)))
    (lex.select "oald")
    (list word nil (british_syllables (car (cddr entry))))))

; by the name that the voices ask for
(lex.create "oald")
(lex.set.phoneset "mrpa")
(lex.set.lts.method 'british_lookup)

; a word with an apostrophe stays one only where the lexicon holds it
(mapcar
 (lambda (word) (lex.add.entry (british_lookup word nil)))
 '("it's" "don't" "didn't" "isn't" "doesn't" "that's" "won't" "aren't" "there's" "we're" "wouldn't" "wasn't" "they're"
   "weren't" "i'm" "he's" "you're" "haven't" "we've" "i've" "hadn't" "they've" "shouldn't" "i'd" "they'll" "you've"
   "you'll" "i'll" "we'd" "he'd" "he'll" "they'd" "you'd" "it'll" "ain't" "needn't" "she'd" "she'll" "mustn't" "hasn't"
   "couldn't" "can't" "we'll"))
